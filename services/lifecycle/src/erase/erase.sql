-- Erases ended messages with all that belongs to them, and leaves a tombstone of each (§8.2). The transaction holds them
-- and their pushes. An open message is never erased, whoever asks (design rule 12).
--
-- Locks: beyond those, the pushes of their acknowledgements. Indexes: the primary keys of messages, envelopes, pushes,
-- push_attempts, acks, tombstones.
WITH erased AS (
    DELETE FROM lifecycle.messages AS message
    USING unnest($1::text[], $2::text[]) AS asked (account, message_id)
    WHERE
        message.account = asked.account
        AND message.message_id = asked.message_id
        AND message.status <> 'open'
    RETURNING message.account, message.message_id, message.agent, message.status
),

envelopes AS (
    DELETE FROM lifecycle.envelopes AS envelope
    USING erased
    WHERE envelope.account = erased.account AND envelope.message_id = erased.message_id
),

acks AS (
    DELETE FROM lifecycle.acks AS ack
    USING erased
    WHERE ack.account = erased.account AND ack.in_reply_to = erased.message_id
    RETURNING ack.account, ack.ack_id
),

pushed AS (
    SELECT erased.account, erased.message_id
    FROM erased
    UNION ALL
    SELECT acks.account, acks.ack_id
    FROM acks
    WHERE acks.ack_id IS NOT NULL
),

pushes AS (
    DELETE FROM lifecycle.pushes AS push
    USING pushed
    WHERE push.account = pushed.account AND push.message_id = pushed.message_id
),

attempts AS (
    DELETE FROM lifecycle.push_attempts AS attempt
    USING pushed
    WHERE attempt.account = pushed.account AND attempt.message_id = pushed.message_id
)

INSERT INTO lifecycle.tombstones (account, message_id, agent, status, erased_at, deletion_id)
SELECT erased.account, erased.message_id, erased.agent, erased.status, statement_timestamp(), $3
FROM erased
