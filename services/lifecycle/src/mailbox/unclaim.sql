-- Takes back a claim whose entries could not be handed over, and the stamp of a first delivery with it (design rule 9).
--
-- Decides: the claim still holds them. Without names ($4 empty) all of it is visible again at once, a first delivery in its
-- old place; those named stay out of sight until their window is over.
--
-- Locks: the entries, by id. Indexes: entries_claimed, the primary key of entries.
WITH held AS (
    SELECT entry.entry_id
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = $1
        AND entry.agent = $2
        AND entry.claim_id = $3
        AND entry.ended_at IS NULL
        AND (cardinality($4::text[]) = 0 OR entry.entry_id = ANY($4::text[]))
    ORDER BY entry.entry_id
    FOR UPDATE
)

UPDATE lifecycle.entries AS entry
SET
    state = CASE WHEN entry.deliveries > 1 THEN 'delivered' ELSE 'queued' END,
    delivered_at = CASE WHEN entry.deliveries > 1 THEN entry.delivered_at END,
    deliveries = entry.deliveries - 1,
    visible_at = CASE
        WHEN cardinality($4::text[]) > 0 OR entry.visible_at = 'infinity' THEN entry.visible_at
        WHEN entry.deliveries > 1 THEN statement_timestamp()
        ELSE entry.enqueued_at
    END,
    claim_id = NULL
FROM held
WHERE entry.account = $1 AND entry.entry_id = held.entry_id
RETURNING entry.entry_id, entry.kind, entry.state
