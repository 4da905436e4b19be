-- Finds the message that a live idempotency key stands for. A key whose time is over stands as long as its message is
-- open (§8.1).
--
-- Locks: none. Indexes: the primary keys of idempotency and messages.
SELECT
    known.message_id,
    known.digest,
    message.status,
    coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue
FROM lifecycle.idempotency AS known
INNER JOIN lifecycle.messages AS message
    ON known.account = message.account AND known.message_id = message.message_id
WHERE
    known.account = $1
    AND known.agent = $2
    AND known.key_hash = $3
    AND (known.expires_at > statement_timestamp() OR message.status = 'open')
