-- A broadcast's agents that have not acknowledged it, by id, those after $3, at most $4. `overdue` as in the count.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of broadcast_recipients, entries, pushes, push_attempts.
SELECT
    recipient.agent,
    coalesce(entry.state, recipient.state) AS state,
    entry.entry_id AS directive_id,
    recipient.reason,
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
WHERE
    recipient.account = $1
    AND recipient.broadcast_id = $2
    AND recipient.agent > $3
    AND coalesce(entry.state, recipient.state) <> 'acknowledged'
ORDER BY recipient.agent
LIMIT $4
