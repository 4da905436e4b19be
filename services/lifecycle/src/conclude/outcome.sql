-- Reads how a message stands. A statement of its own, after one that changed nothing: it sees who came first.
--
-- Locks: none. Index: the primary key of messages.
SELECT
    message.agent,
    message.kind,
    message.status,
    message.resolution_id,
    coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue
FROM lifecycle.messages AS message
WHERE message.account = $1 AND message.message_id = $2
