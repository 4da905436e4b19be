-- How many of a broadcast's agents are in which state: that of the entry where there is one. `overdue`: entries to be ended
-- before anyone is told of them.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of broadcast_recipients, entries, pushes, push_attempts.
SELECT
    coalesce(track.state, recipient.state) AS state,
    count(*) AS recipients,
    array_agg(track.entry_id) FILTER (WHERE track.overdue) AS overdue
FROM lifecycle.broadcast_recipients AS recipient
LEFT JOIN lifecycle.tracks AS track
    ON recipient.account = track.account AND recipient.directive_id = track.entry_id
WHERE recipient.account = $1 AND recipient.broadcast_id = $2
GROUP BY 1
