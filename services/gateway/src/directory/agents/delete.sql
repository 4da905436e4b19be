-- Removes an agent; its tokens go by their foreign key.
-- Locks: its row, then theirs. Served by agents_pkey, tokens_by_agent.
WITH gone AS (
    DELETE FROM directory.agents
    WHERE account = $1
        AND agent = $2
    RETURNING account, agent
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'agent.delete', 'agent:' || agent
    FROM gone
)
SELECT agent
FROM gone
