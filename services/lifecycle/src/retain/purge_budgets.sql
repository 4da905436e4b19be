-- Walks a chunk of the rate budgets in the order of their key, from after ($2, $3, $4) on, and drops those that nothing was
-- charged to for $5 milliseconds: the agent's next submit, if it is still there, begins a new one. Tells where the next chunk
-- begins; no row: this was the end.
--
-- No index finds them: what changes with each submit is in none.
--
-- Locks: the budgets that are dropped; one that is being charged is passed over. Index: the primary key of budgets.
WITH walked AS MATERIALIZED (
    SELECT budget.account, budget.agent, budget.scope, budget.resets_at
    FROM lifecycle.budgets AS budget
    WHERE (budget.account, budget.agent, budget.scope) > ($2, $3, $4)
    ORDER BY budget.account, budget.agent, budget.scope
    LIMIT $1
),

idle AS MATERIALIZED (
    SELECT budget.account, budget.agent, budget.scope
    FROM lifecycle.budgets AS budget
    INNER JOIN walked
        ON budget.account = walked.account AND budget.agent = walked.agent AND budget.scope = walked.scope
    WHERE
        walked.resets_at < statement_timestamp() - $5::bigint * interval '1 millisecond'
        AND budget.resets_at < statement_timestamp() - $5::bigint * interval '1 millisecond'
    FOR UPDATE OF budget SKIP LOCKED
),

purged AS (
    DELETE FROM lifecycle.budgets AS budget
    USING idle
    WHERE budget.account = idle.account AND budget.agent = idle.agent AND budget.scope = idle.scope
    RETURNING budget.scope
)

SELECT walked.account, walked.agent, walked.scope, (SELECT count(*) FROM purged) AS purged
FROM walked
ORDER BY walked.account DESC, walked.agent DESC, walked.scope DESC
LIMIT 1
