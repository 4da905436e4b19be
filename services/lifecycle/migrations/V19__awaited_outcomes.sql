-- Tells the sweep, too, which entries it leaves alone, and when their times are over.
--
-- `OFFSET 0` has each entry's push looked for by its key. Without it, PostgreSQL may decide to read all pushes for that, and does
-- not know how many dead ones an old snapshot keeps among them.
CREATE OR REPLACE VIEW lifecycle.tracks AS
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
    AND NOT entry.awaits_outcome AS overdue,
    entry.awaits_outcome,
    entry.visible_at,
    entry.drops_at,
    entry.kept_until
FROM (
    SELECT
        entry.account,
        entry.entry_id,
        entry.state,
        entry.prior,
        entry.delivered_at,
        entry.ended_at,
        entry.content_bytes,
        entry.visible_at,
        entry.drops_at,
        entry.kept_until,
        entry.state = 'queued'
        AND EXISTS (
            SELECT 1
            FROM lifecycle.awaited_directives AS awaited
            WHERE awaited.account = entry.account AND awaited.entry_id = entry.entry_id
            OFFSET 0
        ) AS awaits_outcome
    FROM lifecycle.entries AS entry
) AS entry;
