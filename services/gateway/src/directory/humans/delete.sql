-- Removes a human; her tokens and browser sessions go by their foreign keys.
-- Locks: her row, then theirs. Served by humans_pkey, tokens_by_human, browser_sessions_by_human.
WITH gone AS (
    DELETE FROM directory.humans
    WHERE account = $1
        AND human = $2
    RETURNING account, human
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'human.delete', 'human:' || human
    FROM gone
)
SELECT human
FROM gone
