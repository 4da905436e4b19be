-- Reads what an acknowledgement of a message turned out to be about, after it changed nothing: the response track, and the
-- acknowledgement that stands.
--
-- Locks: none. Indexes: the primary keys of messages, acks.
SELECT
    message.resolution_id,
    message.delivery_state,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id
FROM lifecycle.messages AS message
LEFT JOIN lifecycle.acks AS ack
    ON message.account = ack.account AND message.message_id = ack.in_reply_to AND ack.leg = 'response'
WHERE message.account = $1 AND message.message_id = $2
