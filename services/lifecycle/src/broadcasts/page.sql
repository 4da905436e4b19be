-- One page of an account's broadcasts, newest first, by keyset: $2 is the last id of the page before.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Index: the primary key of broadcasts.
SELECT
    broadcast.broadcast_id,
    broadcast.author,
    broadcast.title,
    broadcast.labels,
    broadcast.recipients,
    broadcast.accepted_at
FROM lifecycle.broadcasts AS broadcast
WHERE
    broadcast.account = $1
    AND ($2::text IS NULL OR broadcast.broadcast_id < $2)
    AND coalesce(broadcast.kept_until, 'infinity') > statement_timestamp()
ORDER BY broadcast.broadcast_id DESC
LIMIT $3
