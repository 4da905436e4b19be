-- Whose credentials these are, tokens by their hash in $1, browser sessions in $2, and for how long yet; those that have
-- ended are missing.
-- No locks. Served by tokens_by_hash, browser_sessions_by_hash, accounts_pkey, humans_pkey.
SELECT tokens.token_hash AS hash,
    false AS is_session,
    tokens.account,
    tokens.human,
    tokens.agent,
    humans.role,
    floor(extract(epoch FROM tokens.expires_at - statement_timestamp()) * 1000)::bigint AS left_ms
FROM directory.tokens
JOIN directory.accounts ON accounts.account = tokens.account
LEFT JOIN directory.humans ON humans.account = tokens.account
    AND humans.human = tokens.human
WHERE tokens.token_hash = ANY ($1)
    AND (tokens.expires_at IS NULL OR tokens.expires_at > statement_timestamp())
    AND accounts.deleted_at IS NULL
UNION ALL
SELECT browser_sessions.session_hash,
    true,
    browser_sessions.account,
    browser_sessions.human,
    NULL,
    humans.role,
    floor(extract(epoch FROM browser_sessions.expires_at - statement_timestamp()) * 1000)::bigint
FROM directory.browser_sessions
JOIN directory.accounts ON accounts.account = browser_sessions.account
JOIN directory.humans ON humans.account = browser_sessions.account
    AND humans.human = browser_sessions.human
WHERE browser_sessions.session_hash = ANY ($2)
    AND browser_sessions.expires_at > statement_timestamp()
    AND accounts.deleted_at IS NULL
