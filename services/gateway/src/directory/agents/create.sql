-- Adds an agent to an account that is there and does not have it. One row: `found` says whether the account is there,
-- `agent` is null where it already has it.
-- Locks: the account (shared, against its deletion), then the new row. Served by accounts_pkey, agents_pkey.
WITH found AS (
    SELECT account
    FROM directory.accounts
    WHERE account = $1
        AND deleted_at IS NULL
    FOR SHARE
), made AS (
    INSERT INTO directory.agents (account, agent, labels)
    SELECT account, $2, $3::text::jsonb
    FROM found
    ON CONFLICT DO NOTHING
    RETURNING account, agent, labels, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $4, $5, 'agent.create', 'agent:' || agent
    FROM made
)
SELECT EXISTS (SELECT FROM found) AS found,
    made.agent,
    made.labels::text AS labels,
    made.created_at
FROM (VALUES (1)) AS one
LEFT JOIN made ON true
