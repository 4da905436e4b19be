-- Holds a message that is about to be erased.
--
-- Locks: the message, after its push. Index: the primary key of messages.
SELECT message.message_id
FROM lifecycle.messages AS message
WHERE message.account = $1 AND message.message_id = $2
FOR UPDATE
