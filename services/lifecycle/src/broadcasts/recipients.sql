-- A broadcast's agents that are in one of the states $5, or, where that is empty, that have not acknowledged it: by id, those
-- after $3, at most $4. `overdue` as in the count.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of broadcast_recipients, entries, acks, pushes, push_attempts.
SELECT
    recipient.agent,
    coalesce(entry.state, recipient.state) AS state,
    entry.entry_id AS directive_id,
    recipient.reason,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id,
    entry.entry_id IS NOT NULL
    AND entry.ended_at IS NULL
    AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END < statement_timestamp()
    AND NOT (
        entry.state = 'queued'
        AND EXISTS (
            SELECT 1
            FROM lifecycle.awaited_directives AS awaited
            WHERE awaited.account = entry.account AND awaited.entry_id = entry.entry_id
        )
    ) AS overdue
FROM lifecycle.broadcast_recipients AS recipient
LEFT JOIN lifecycle.entries AS entry
    ON recipient.account = entry.account AND recipient.directive_id = entry.entry_id
LEFT JOIN lifecycle.acks AS ack
    ON entry.account = ack.account AND entry.entry_id = ack.in_reply_to AND ack.leg = 'mailbox'
WHERE
    recipient.account = $1
    AND recipient.broadcast_id = $2
    AND recipient.agent > $3
    AND CASE
        WHEN cardinality($5::text[]) = 0 THEN coalesce(entry.state, recipient.state) <> 'acknowledged'
        ELSE coalesce(entry.state, recipient.state) = ANY($5)
    END
ORDER BY recipient.agent
LIMIT $4
