-- How far entries got, as it may be told. What is `overdue` is to be ended before anyone is told of it (design rule 2). It is not
-- while an outcome of its push is to come: where it is, nobody knows better yet.
CREATE VIEW lifecycle.tracks AS
SELECT
    entry.account,
    entry.entry_id,
    entry.state,
    entry.prior,
    entry.delivered_at,
    entry.ended_at,
    entry.content_bytes,
    entry.ended_at IS NULL
    AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END < statement_timestamp()
    AND NOT (
        entry.state = 'queued'
        AND EXISTS (
            SELECT 1
            FROM lifecycle.awaited_directives AS awaited
            WHERE awaited.account = entry.account AND awaited.entry_id = entry.entry_id
        )
    ) AS overdue
FROM lifecycle.entries AS entry;
