-- A broadcast's agents that are in one of the states $5, or, where that is empty, that have not acknowledged it: by id, those
-- after $3, at most $4. `overdue`: its entry is to be ended before anyone is told of it.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of broadcast_recipients, entries, acks, pushes, push_attempts.
SELECT
    recipient.agent,
    coalesce(track.state, recipient.state) AS state,
    track.entry_id AS directive_id,
    recipient.reason,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id,
    coalesce(track.overdue, false) AS overdue
FROM lifecycle.broadcast_recipients AS recipient
LEFT JOIN lifecycle.tracks AS track
    ON recipient.account = track.account AND recipient.directive_id = track.entry_id
LEFT JOIN lifecycle.acks AS ack
    ON track.account = ack.account AND track.entry_id = ack.in_reply_to AND ack.leg = 'mailbox'
WHERE
    recipient.account = $1
    AND recipient.broadcast_id = $2
    AND recipient.agent > $3
    AND CASE
        WHEN cardinality($5::text[]) = 0 THEN coalesce(track.state, recipient.state) <> 'acknowledged'
        ELSE coalesce(track.state, recipient.state) = ANY($5)
    END
ORDER BY recipient.agent
LIMIT $4
