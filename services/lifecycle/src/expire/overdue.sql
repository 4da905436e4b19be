-- Takes a chunk of overdue messages for the sweep, whichever came due first, for the length of its transaction. Looks $2
-- milliseconds back.
--
-- Locks: the messages; those that others hold are passed over, so that replicas share the work and none waits.
-- Index: messages_expiring.
SELECT message.account, message.message_id
FROM lifecycle.messages AS message
WHERE
    message.status = 'open'
    AND message.expires_at < statement_timestamp()
    AND message.expires_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
ORDER BY message.expires_at
LIMIT $1
FOR UPDATE SKIP LOCKED
