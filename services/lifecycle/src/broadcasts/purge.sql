-- Drops a broadcast whose time is over, the longest over first: at most $1 of its agents, and itself with the last of them.
-- `dropped` tells whether there may be more. Looks $2 milliseconds back.
--
-- Locks: the broadcast, then its agents; one that others hold is passed over. Indexes: broadcasts_over, the primary keys of
-- broadcasts, broadcast_recipients.
WITH over AS MATERIALIZED (
    SELECT broadcast.account, broadcast.broadcast_id
    FROM lifecycle.broadcasts AS broadcast
    WHERE
        broadcast.kept_until <= statement_timestamp()
        AND broadcast.kept_until > statement_timestamp() - $2::bigint * interval '1 millisecond'
    ORDER BY broadcast.kept_until
    LIMIT 1
    FOR UPDATE SKIP LOCKED
),

told AS MATERIALIZED (
    SELECT recipient.agent
    FROM lifecycle.broadcast_recipients AS recipient
    WHERE
        recipient.account = (SELECT over.account FROM over)
        AND recipient.broadcast_id = (SELECT over.broadcast_id FROM over)
    LIMIT $1
),

recipients AS (
    DELETE FROM lifecycle.broadcast_recipients AS recipient
    WHERE
        recipient.account = (SELECT over.account FROM over)
        AND recipient.broadcast_id = (SELECT over.broadcast_id FROM over)
        AND recipient.agent = ANY(ARRAY(SELECT told.agent FROM told))
),

broadcasts AS (
    DELETE FROM lifecycle.broadcasts AS broadcast
    USING over
    WHERE
        broadcast.account = over.account
        AND broadcast.broadcast_id = over.broadcast_id
        AND (SELECT count(*) FROM told) < $1
)

SELECT (SELECT count(*) FROM over) + (SELECT count(*) FROM told) AS dropped
