-- Finds messages of an account that are overdue, at most $2, for whoever asks for what has expired. Looks an hour back: what is
-- older the sweep has dealt with, and under an old snapshot it still lies in the index.
--
-- Locks: none. Index: messages_expiring.
SELECT message.message_id
FROM lifecycle.messages AS message
WHERE
    message.account = $1
    AND message.status = 'open'
    AND message.expires_at < statement_timestamp()
    AND message.expires_at > statement_timestamp() - interval '1 hour'
ORDER BY message.expires_at
LIMIT $2
