-- Webhooks: where directives are pushed to (§8.7), and an account's acknowledgements (§14.4). The latter's host and secrets are
-- the account's own: an empty `agent` in callback_hosts, the owner `account` in secrets.

ALTER TABLE delivery.secrets DROP CONSTRAINT secrets_owner_check;
ALTER TABLE delivery.secrets
    ADD CONSTRAINT secrets_owner_check CHECK (owner = 'account' OR owner LIKE 'agent:_%');

CREATE TABLE delivery.webhooks (
    account        text COLLATE "C" NOT NULL,
    -- Whose directives; empty: the account's acknowledgements.
    agent          text COLLATE "C" NOT NULL,
    -- To the letter.
    url            text             NOT NULL,
    -- Of the URL, as a callback host is registered.
    host           text COLLATE "C" NOT NULL,
    scheme         text COLLATE "C" NOT NULL CHECK (scheme IN ('hmac', 'bearer', 'apikey')),
    -- `secret_ref` or `token_ref`, by the scheme.
    credential_ref text             NOT NULL,

    PRIMARY KEY (account, agent)
);

-- For lifecycle, which owes a push to what may be called: a webhook whose host is not verified any more is none.
CREATE VIEW delivery.webhooks_v1 AS
SELECT webhook.account, webhook.agent, webhook.url, webhook.host, webhook.scheme, webhook.credential_ref
FROM delivery.webhooks AS webhook
INNER JOIN delivery.callback_hosts AS host
    ON
        host.account = webhook.account COLLATE "default"
        AND host.agent = webhook.agent COLLATE "default"
        AND host.host = webhook.host COLLATE "default"
WHERE host.status = 'verified';

GRANT SELECT ON delivery.webhooks_v1 TO hub_lifecycle;
