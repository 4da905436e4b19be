-- What is written for ever ends as well, when it is old. What the sweep finds, over all accounts.
CREATE INDEX audit_oldest ON directory.audit (at);
CREATE INDEX tokens_expired ON directory.tokens (expires_at) WHERE expires_at IS NOT NULL;
