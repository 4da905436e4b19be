-- Forgets agents that are no longer there: of the $3 principals after ($1, $2), those that no agent has the id of and that were
-- not heard from for $4 seconds, so that what is on its way meets its row. Gives the last that was looked at; no row at the
-- end of the table.
--
-- Locks: the rows it drops; those that others hold are left for the next round. Indexes: the primary keys of principals,
-- directory.agents, directory.accounts.
WITH looked AS MATERIALIZED (
    SELECT principal.account, principal.agent
    FROM presence.principals AS principal
    WHERE (principal.account, principal.agent) > ($1, $2)
    ORDER BY principal.account, principal.agent
    LIMIT $3
),

gone AS MATERIALIZED (
    SELECT principal.account, principal.agent
    FROM presence.principals AS principal
    INNER JOIN looked ON principal.account = looked.account AND principal.agent = looked.agent
    WHERE
        coalesce(greatest(principal.last_seen, principal.last_session_seen, principal.stopped_at), '-infinity')
        < statement_timestamp() - $4::bigint * interval '1 second'
        AND NOT EXISTS (
            SELECT 1
            FROM directory.agents_v1 AS known
            WHERE known.account = principal.account AND known.agent = principal.agent
        )
    FOR UPDATE OF principal SKIP LOCKED
),

forgotten AS (
    DELETE FROM presence.principals AS principal
    USING gone
    WHERE principal.account = gone.account AND principal.agent = gone.agent
    RETURNING principal.agent
)

SELECT looked.account, looked.agent, (SELECT count(*) FROM forgotten) AS forgotten
FROM looked
ORDER BY looked.account DESC, looked.agent DESC
LIMIT 1;
