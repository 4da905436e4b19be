-- Takes a broadcast that has agents to reach, for the length of a transaction. No row: nothing is left to do, or another
-- worker has it in hand.
--
-- `kept_until` is set together with `fanned_out_at`, which would have broadcasts_under_way serve.
--
-- Locks: the broadcast. Index: its primary key.
SELECT broadcast.author, broadcast.content, broadcast.expires_at, broadcast.accepted_at
FROM lifecycle.broadcasts AS broadcast
WHERE broadcast.account = $1 AND broadcast.broadcast_id = $2 AND broadcast.kept_until IS NULL
FOR UPDATE SKIP LOCKED
