-- Ends the response track of messages whose agent never got the Response, and with it the push (§14.2). The transaction
-- holds both.
--
-- Locks: none beyond those. Indexes: the primary keys of messages and pushes.
WITH closed AS (
    UPDATE lifecycle.messages AS message
    SET delivery_state = 'expired'
    FROM unnest($1::text[], $2::text[]) AS asked (account, message_id)
    WHERE
        message.account = asked.account
        AND message.message_id = asked.message_id
        AND message.delivery_state IS NULL
    RETURNING message.account, message.message_id
)

UPDATE lifecycle.pushes AS push
SET state = 'expired', held_at = NULL, claim_id = NULL, claim_until = NULL
FROM closed
WHERE push.account = closed.account AND push.message_id = closed.message_id
