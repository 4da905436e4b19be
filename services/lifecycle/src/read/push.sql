-- Tells how the push of a message stands, for whoever may see the message. No row: no such message for this reader.
-- Null: no push was asked for, or none is owed yet. While an attempt is under way there is no next one.
--
-- Locks: none. Indexes: the primary keys of messages and pushes.
SELECT
    push.state,
    CASE
        WHEN push.state = 'due' AND (push.claim_until IS NULL OR push.claim_until < statement_timestamp())
            THEN push.attempt_at
    END AS next_attempt_at
FROM lifecycle.messages AS message
LEFT JOIN lifecycle.pushes AS push
    ON message.account = push.account AND message.message_id = push.message_id
WHERE
    message.account = $1
    AND message.message_id = $2
    AND ($3::text IS NULL OR message.agent = $3::text)
