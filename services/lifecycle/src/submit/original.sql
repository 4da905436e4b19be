-- Finds the message that a live idempotency key stands for. A key whose time is over stands as long as its message is
-- open (§8.1). Of a message that was erased the tombstone tells how it ended.
--
-- Locks: none. Indexes: the primary keys of idempotency, messages and tombstones.
SELECT
    known.message_id,
    known.digest,
    coalesce(message.status, tombstone.status) AS status,
    coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue
FROM lifecycle.idempotency AS known
LEFT JOIN lifecycle.messages AS message
    ON known.account = message.account AND known.message_id = message.message_id
LEFT JOIN lifecycle.tombstones AS tombstone
    ON known.account = tombstone.account AND known.message_id = tombstone.message_id
WHERE
    known.account = $1
    AND known.agent = $2
    AND known.key_hash = $3
    AND (known.expires_at > statement_timestamp() OR message.status = 'open')
    AND (message.message_id IS NOT NULL OR tombstone.message_id IS NOT NULL)
