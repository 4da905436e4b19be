-- Forgets all that is kept for an agent: secrets, entry key, webhook, callback hosts. An agent that later gets its id inherits
-- nothing. Again is the same; how many rows fell away says nothing of whether there is such an agent.
-- Locks: the rows, secrets first. Indexes: secrets_pkey, entry_keys_pkey, webhooks_pkey, callback_hosts_pkey.
WITH secrets AS (
    DELETE FROM delivery.secrets
    WHERE account = $1 AND owner = 'agent:' || $2
),

entry_keys AS (
    DELETE FROM delivery.entry_keys
    WHERE account = $1 AND agent = $2
),

webhooks AS (
    DELETE FROM delivery.webhooks
    WHERE account = $1 AND agent = $2
)

DELETE FROM delivery.callback_hosts
WHERE account = $1 AND agent = $2;
