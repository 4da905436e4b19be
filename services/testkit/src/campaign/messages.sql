-- Reads every message with how its push stands, for the rules to judge.
SELECT
    message.message_id,
    envelope.title,
    message.status,
    message.expires_at,
    message.terminal_at,
    message.resolution_id,
    message.delivery_state,
    message.delivered_at,
    push.state AS push,
    coalesce(message.detail, '') AS detail,
    envelope.callback_url IS NOT NULL AS is_pushed,
    coalesce(
        (
            SELECT array_agg(attempt.outcome ORDER BY attempt.generation, attempt.number)
            FROM lifecycle.push_attempts AS attempt
            WHERE attempt.account = message.account AND attempt.message_id = message.message_id
        ),
        '{}'
    ) AS attempts,
    ack.note AS ack_note
FROM lifecycle.messages AS message
INNER JOIN lifecycle.envelopes AS envelope
    ON message.account = envelope.account AND message.message_id = envelope.message_id
LEFT JOIN lifecycle.pushes AS push
    ON message.account = push.account AND message.message_id = push.message_id
LEFT JOIN lifecycle.acks AS ack
    ON message.account = ack.account AND message.message_id = ack.in_reply_to AND ack.leg = 'response'
