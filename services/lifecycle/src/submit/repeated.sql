-- Finds the message of a submit that is made again under the id it was given, its reply lost (design rule 3).
--
-- Locks: none. Index: the primary key of messages.
SELECT
    message.message_id,
    message.status,
    coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue
FROM lifecycle.messages AS message
WHERE message.account = $1 AND message.agent = $2 AND message.message_id = $3
