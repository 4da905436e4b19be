-- Reads one directive with its track.
--
-- Locks: none. Indexes: the primary keys of directives, entries, acks, pushes, push_attempts.
SELECT
    directive.directive_id,
    directive.agent,
    directive.directive,
    track.state,
    track.delivered_at,
    track.prior,
    track.ended_at,
    track.overdue,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id
FROM lifecycle.directives AS directive
INNER JOIN lifecycle.tracks AS track
    ON directive.account = track.account AND directive.directive_id = track.entry_id
LEFT JOIN lifecycle.acks AS ack
    ON directive.account = ack.account AND directive.directive_id = ack.in_reply_to AND ack.leg = 'mailbox'
WHERE directive.account = $1 AND directive.directive_id = $2
