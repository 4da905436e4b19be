-- How many of a broadcast's agents are in which state: that of the entry where there is one. `overdue`: entries to be ended
-- before anyone is told of them (design rule 2), as in the reading of one.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of broadcast_recipients, entries, pushes, push_attempts.
SELECT
    coalesce(entry.state, recipient.state) AS state,
    count(*) AS recipients,
    array_agg(entry.entry_id) FILTER (
        WHERE
        entry.ended_at IS NULL
        AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END < statement_timestamp()
        AND NOT (
            entry.state = 'queued'
            AND EXISTS (
                SELECT 1
                FROM lifecycle.awaited_directives AS awaited
                WHERE awaited.account = entry.account AND awaited.entry_id = entry.entry_id
            )
        )
    ) AS overdue
FROM lifecycle.broadcast_recipients AS recipient
LEFT JOIN lifecycle.entries AS entry
    ON recipient.account = entry.account AND recipient.directive_id = entry.entry_id
WHERE recipient.account = $1 AND recipient.broadcast_id = $2
GROUP BY 1
