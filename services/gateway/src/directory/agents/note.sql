-- Writes down what is about to be done to an agent's secrets, keys, callback hosts or webhook, which delivery keeps. No row
-- back: there is no such agent. It is written before it is done, so that nothing is ever done unwritten.
-- Locks: the agent (shared, against its deletion). Served by accounts_pkey, agents_pkey.
WITH found AS (
    SELECT agents.account, agents.agent
    FROM directory.agents
    JOIN directory.accounts ON accounts.account = agents.account
    WHERE agents.account = $1
        AND agents.agent = $2
        AND accounts.deleted_at IS NULL
    FOR SHARE OF agents
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $3, $4, $5, 'agent:' || agent, $6::text::jsonb
    FROM found
)
SELECT agent
FROM found
