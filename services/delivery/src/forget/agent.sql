-- Forgets all that is kept for an agent which is not there: secrets, entry key, webhook, callback hosts. An agent that later gets
-- its id inherits nothing, and one that is there again loses nothing, however late this comes. Again is the same; how many rows
-- fell away says nothing of whether there is such an agent.
-- Locks: the rows, secrets first. Indexes: directory.agents_pkey, secrets_pkey, entry_keys_pkey, webhooks_pkey,
-- callback_hosts_pkey.
WITH gone AS MATERIALIZED (
    SELECT asked.account, asked.agent
    FROM (VALUES ($1::text, $2::text)) AS asked (account, agent)
    WHERE NOT EXISTS (
        SELECT 1
        FROM directory.agents_v1 AS known
        WHERE known.account = asked.account AND known.agent = asked.agent
    )
),

secrets AS (
    DELETE FROM delivery.secrets AS secret
    USING gone
    WHERE secret.account = gone.account AND secret.owner = 'agent:' || gone.agent
),

entry_keys AS (
    DELETE FROM delivery.entry_keys AS entry_key
    USING gone
    WHERE entry_key.account = gone.account AND entry_key.agent = gone.agent
),

webhooks AS (
    DELETE FROM delivery.webhooks AS webhook
    USING gone
    WHERE webhook.account = gone.account AND webhook.agent = gone.agent
)

DELETE FROM delivery.callback_hosts AS host
USING gone
WHERE host.account = gone.account AND host.agent = gone.agent;
