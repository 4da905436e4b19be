-- The open messages that one human alone may answer, oldest first, at most $3 of them, each with how many there are.
--
-- Sent unprepared, so that it is planned with its values: it walks what is open in the account.
--
-- Locks: none. Indexes: messages_by_status, the primary key of envelopes.
SELECT
    message.message_id,
    count(*) OVER () AS count
FROM lifecycle.messages AS message
INNER JOIN lifecycle.envelopes AS envelope
    ON message.account = envelope.account AND message.message_id = envelope.message_id
WHERE
    message.account = $1
    AND message.status = 'open'
    AND (message.expires_at IS NULL OR message.expires_at >= statement_timestamp())
    AND envelope.sole_resolver = $2
ORDER BY message.message_id
LIMIT $3
