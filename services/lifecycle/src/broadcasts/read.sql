-- Reads one broadcast, as it was taken.
--
-- Locks: none. Index: the primary key of broadcasts.
SELECT
    broadcast.broadcast_id,
    broadcast.author,
    broadcast.title,
    broadcast.labels,
    broadcast.recipients,
    broadcast.accepted_at,
    broadcast.content
FROM lifecycle.broadcasts AS broadcast
WHERE
    broadcast.account = $1
    AND broadcast.broadcast_id = $2
    AND coalesce(broadcast.kept_until, 'infinity') > statement_timestamp()
