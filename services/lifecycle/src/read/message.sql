-- Reads one message for whoever may see it: any human of the account, or the agent in $3.
--
-- Decides: `overdue`, by which the caller moves the row before it tells anyone of it (design rule 2), and
-- `not_modified`: the status has not changed after $4, and $4 is not in the future. The envelope, which may be large,
-- is left out then, and where it and the Response, which repeats its state, are larger than $5. An end is stamped when its statement began, and seen when that commits: who looked in between, or
-- has a clock that runs ahead, names a time after an end it has not seen. So an end counts as not seen for a minute.
--
-- Locks: none. Indexes: the primary keys of messages, envelopes and acks.
SELECT
    message.agent,
    message.kind,
    message.status,
    message.accepted_at,
    message.expires_at,
    message.terminal_at,
    message.resolution_id,
    message.actor,
    message.defaulted,
    message.detail,
    message.delivery_state,
    message.delivered_at,
    known.overdue,
    known.not_modified,
    envelope.run_id,
    envelope.ma2h_version,
    known.content_bytes,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id,
    CASE
        WHEN NOT known.not_modified AND NOT known.overdue AND ($5::bigint IS NULL OR known.content_bytes <= $5::bigint)
            THEN envelope.envelope
    END AS envelope
FROM lifecycle.messages AS message
INNER JOIN lifecycle.envelopes AS envelope
    ON message.account = envelope.account AND message.message_id = envelope.message_id
LEFT JOIN lifecycle.acks AS ack
    ON message.account = ack.account AND message.message_id = ack.in_reply_to AND ack.leg = 'response'
CROSS JOIN LATERAL (
    SELECT
        coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue,
        coalesce(
            CASE
                WHEN message.status = 'open' OR message.kind = 'notify' THEN message.accepted_at
                ELSE message.terminal_at + interval '1 minute'
            END <= $4::timestamptz
            AND $4::timestamptz <= statement_timestamp(),
            false
        ) AS not_modified,
        octet_length(envelope.envelope)::bigint * CASE WHEN message.resolution_id IS NULL THEN 1 ELSE 2 END
        + coalesce(octet_length(message.detail), 0) AS content_bytes
) AS known
WHERE
    message.account = $1
    AND message.message_id = $2
    AND ($3::text IS NULL OR message.agent = $3::text)
