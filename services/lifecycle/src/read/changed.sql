-- Of many messages, those that are not open and in time: ended, overdue, or not there. Whoever waits for one looks at it
-- then, and that look decides (design rule 2).
--
-- Sent unprepared, so that it is planned with its values. Each message is named with its account (design rule 7).
--
-- Locks: none. Index: the primary key of messages.
SELECT
    asked.account,
    asked.message_id
FROM unnest($1::text[], $2::text[]) AS asked (account, message_id)
LEFT JOIN LATERAL (
    SELECT message.status, message.expires_at
    FROM lifecycle.messages AS message
    WHERE asked.account = message.account AND asked.message_id = message.message_id
    OFFSET 0
) AS message ON true
WHERE message.status IS DISTINCT FROM 'open' OR message.expires_at < statement_timestamp()
