-- Takes a chunk of entries whose time is over for the sweep, for the length of its transaction: those to be dropped,
-- whichever came due first, and those that were delivered and never acknowledged. Not those that the end leaves alone, for an
-- outcome of their push is to come. Of each, $3 are passed over. Looks $2 milliseconds back.
--
-- Locks: the entries; those that others hold are passed over, so that replicas share the work and none waits.
-- Indexes: entries_dropping, entries_orphaned, the primary keys of entries, pushes, push_attempts.
WITH dropping AS MATERIALIZED (
    SELECT entry.account, entry.entry_id
    FROM lifecycle.tracks AS entry
    WHERE
        entry.ended_at IS NULL
        AND entry.visible_at < 'infinity'
        AND entry.drops_at < statement_timestamp()
        AND entry.drops_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
        AND NOT entry.awaits_outcome
    ORDER BY entry.drops_at
    LIMIT $1
    OFFSET $3
    FOR UPDATE SKIP LOCKED
),

orphaned AS MATERIALIZED (
    SELECT entry.account, entry.entry_id
    FROM lifecycle.entries AS entry
    WHERE
        entry.ended_at IS NULL
        AND entry.visible_at = 'infinity'
        AND entry.kept_until < statement_timestamp()
        AND entry.kept_until > statement_timestamp() - $2::bigint * interval '1 millisecond'
    ORDER BY entry.kept_until
    LIMIT $1
    OFFSET $3
    FOR UPDATE SKIP LOCKED
)

SELECT dropping.account, dropping.entry_id
FROM dropping
UNION ALL
SELECT orphaned.account, orphaned.entry_id
FROM orphaned
