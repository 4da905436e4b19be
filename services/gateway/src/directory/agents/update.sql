-- Writes a patched agent, whose row lock.sql holds. Served by agents_pkey.
WITH changed AS (
    UPDATE directory.agents
    SET labels = $5::text::jsonb
    WHERE account = $1
        AND agent = $2
    RETURNING account, agent, labels, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'agent.update', 'agent:' || agent
    FROM changed
)
SELECT agent, labels::text AS labels, created_at
FROM changed
