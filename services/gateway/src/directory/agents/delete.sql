-- Removes an agent; its tokens go by their foreign key. That it is to be forgotten stands from then on: the other tiers are
-- asked to at once, and once more when all that was under way has ended.
-- Locks: its row, then theirs. Served by agents_pkey, tokens_by_agent, leaving_pkey.
WITH gone AS (
    DELETE FROM directory.agents
    WHERE account = $1
        AND agent = $2
    RETURNING account, agent
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'agent.delete', 'agent:' || agent
    FROM gone
), leaving AS (
    INSERT INTO directory.leaving (account, agent, due_at)
    SELECT account, agent, statement_timestamp() + interval '1 minute'
    FROM gone
    ON CONFLICT (account, agent) DO UPDATE
        SET due_at = excluded.due_at
)
SELECT agent
FROM gone
