-- Takes a chunk of broadcasts whose job shall be published: nothing was heard of it for too long. Moves their `due_at` on, so
-- that each is published once per that time (design rule 5). Looks $3 milliseconds back.
--
-- Locks: the broadcasts; those that others hold are passed over. Index: broadcasts_owed.
WITH lost AS (
    SELECT broadcast.account, broadcast.broadcast_id
    FROM lifecycle.broadcasts AS broadcast
    WHERE
        broadcast.due_at <= statement_timestamp()
        AND broadcast.due_at > statement_timestamp() - $3::bigint * interval '1 millisecond'
    ORDER BY broadcast.due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

UPDATE lifecycle.broadcasts AS broadcast
SET due_at = statement_timestamp() + $2::bigint * interval '1 millisecond'
FROM lost
WHERE broadcast.account = lost.account AND broadcast.broadcast_id = lost.broadcast_id
RETURNING broadcast.account, broadcast.broadcast_id
