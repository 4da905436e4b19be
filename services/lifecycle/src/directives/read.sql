-- Reads one directive with its track. `overdue`: its entry is to be ended before anyone is told of it (design rule 2). It is
-- not while an outcome of its push is to come: where it is, nobody knows better yet.
--
-- Locks: none. Indexes: the primary keys of directives, entries, acks, pushes, push_attempts.
SELECT
    directive.directive_id,
    directive.agent,
    directive.directive,
    entry.state,
    entry.delivered_at,
    entry.prior,
    entry.ended_at,
    entry.ended_at IS NULL
    AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END < statement_timestamp()
    AND NOT (
        entry.state = 'queued'
        AND EXISTS (
            SELECT 1
            FROM lifecycle.awaited_directives AS awaited
            WHERE awaited.account = entry.account AND awaited.entry_id = entry.entry_id
        )
    ) AS overdue,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id
FROM lifecycle.directives AS directive
INNER JOIN lifecycle.entries AS entry
    ON directive.account = entry.account AND directive.directive_id = entry.entry_id
LEFT JOIN lifecycle.acks AS ack
    ON directive.account = ack.account AND directive.directive_id = ack.in_reply_to AND ack.leg = 'mailbox'
WHERE directive.account = $1 AND directive.directive_id = $2
