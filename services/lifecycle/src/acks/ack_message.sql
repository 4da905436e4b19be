-- Acknowledges the Response to a message (§14.3): the first acknowledgement stands. Where the account has a webhook for
-- acknowledgements, a push of it as $8 is owed from now on (§14.4).
--
-- Decides: the message has ended, the caller submitted it, the resolution is the one that is meant ($7; null for whichever),
-- and its Response reached the agent: by the track, or because a push of it is being attempted this moment, of which the
-- acknowledgement is then the evidence (design rule 9); also an attempt that a redelivery has replaced. Where it names the
-- resolution, which the Response tells, any attempt that was begun is: whatever became of it, its answer may have been late or
-- lost. No row: the caller looks why.
--
-- Locks: the message. Indexes: the primary keys of messages, pushes, acks, delivery.webhooks, delivery.callback_hosts.
WITH acked AS (
    UPDATE lifecycle.messages AS message
    SET
        delivery_state = 'acknowledged',
        delivered_at = coalesce(message.delivered_at, statement_timestamp())
    WHERE
        message.account = $1
        AND message.message_id = $2
        AND message.agent = $3
        AND message.resolution_id IS NOT NULL
        AND ($7::text IS NULL OR message.resolution_id = $7)
        AND (
            message.delivery_state = 'delivered-to-agent'
            OR (
                message.delivery_state IS NULL
                AND EXISTS (
                    SELECT 1
                    FROM lifecycle.pushes AS push
                    WHERE
                        push.account = message.account
                        AND push.message_id = message.message_id
                        AND (
                            (push.state = 'due' AND push.claim_until >= statement_timestamp())
                            OR push.replaced_until >= statement_timestamp()
                            OR ($7::text IS NOT NULL AND (push.attempts > 0 OR push.generation > 1))
                        )
                    OFFSET 0
                )
            )
        )
    RETURNING message.account, message.message_id, message.resolution_id
),

webhook AS MATERIALIZED (
    SELECT hook.host
    FROM delivery.webhooks_v1 AS hook
    WHERE hook.account = $1 AND hook.agent = ''
),

noted AS (
    INSERT INTO lifecycle.acks (account, in_reply_to, leg, ma2h_version, by, acked_at, note, resolution_id, ack_id)
    SELECT
        acked.account, acked.message_id, 'response', $5, $4, statement_timestamp(), $6, acked.resolution_id,
        CASE WHEN EXISTS (SELECT 1 FROM webhook) THEN $8 END
    FROM acked
    RETURNING *
),

owed AS (
    INSERT INTO lifecycle.pushes (
        account, message_id, kind, host, state, generation, attempts, attempt_at, due_at, traceparent
    )
    SELECT
        noted.account, noted.ack_id, 'ack', webhook.host, 'due', 1, 0, statement_timestamp(),
        statement_timestamp() + $9::bigint * interval '1 millisecond', $10
    FROM noted
    CROSS JOIN webhook
)

SELECT
    noted.in_reply_to,
    noted.ma2h_version AS ack_version,
    noted.by AS acked_by,
    noted.acked_at,
    noted.note,
    noted.resolution_id AS acked_resolution_id,
    noted.ack_id
FROM noted
