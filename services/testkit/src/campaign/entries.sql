-- Reads every directive with its entry and its acknowledgement, for the rules to judge.
SELECT
    entry.entry_id,
    directive.directive::jsonb ->> 'title' AS title,
    entry.agent,
    directive.author,
    (directive.directive::jsonb ->> 'expires_at')::timestamptz AS expires_at,
    entry.state,
    entry.enqueued_at,
    entry.seq,
    entry.delivered_at,
    entry.ended_at,
    ack.acked_at,
    ack.note
FROM lifecycle.entries AS entry
INNER JOIN lifecycle.directives AS directive
    ON entry.account = directive.account AND entry.entry_id = directive.directive_id
LEFT JOIN lifecycle.acks AS ack
    ON entry.account = ack.account AND entry.entry_id = ack.in_reply_to AND ack.leg = 'mailbox'
