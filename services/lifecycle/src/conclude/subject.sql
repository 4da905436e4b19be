-- Reads what a resolve is decided on.
--
-- Locks: none. Indexes: the primary keys of messages and envelopes.
SELECT message.agent, envelope.envelope
FROM lifecycle.messages AS message
INNER JOIN lifecycle.envelopes AS envelope
    ON message.account = envelope.account AND message.message_id = envelope.message_id
WHERE message.account = $1 AND message.message_id = $2
