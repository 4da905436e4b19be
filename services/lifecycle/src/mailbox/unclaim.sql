-- Takes back a claim whose entries could not be handed over, and the stamp of a first delivery with it (design rule 9).
--
-- Decides: the claim still holds them. Without names ($4 empty) all of it is visible again at once, a first delivery in its
-- old place; those named stay out of sight until their window is over. What has bounced meanwhile stays so, from where it
-- was: of a first delivery that is the queue. What the sweep took out of sight meanwhile was never delivered, and is put back
-- where it was: it has expired. The place that a first delivery is back in is noted with the claim: whoever has seen where the
-- mailbox begins goes back there, so that what comes first is given first (§8.7).
--
-- Locks: the entries, by id, then the claim. Indexes: entries_claimed, the primary keys of entries, claims.
WITH held AS (
    SELECT entry.entry_id
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = $1
        AND entry.agent = $2
        AND entry.claim_id = $3
        AND (cardinality($4::text[]) = 0 OR entry.entry_id = ANY($4::text[]))
    ORDER BY entry.entry_id
    FOR UPDATE
),

back AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = CASE WHEN entry.ended_at IS NOT NULL OR entry.deliveries > 1 THEN entry.state ELSE 'queued' END,
        prior = CASE WHEN entry.ended_at IS NOT NULL AND entry.deliveries = 1 THEN 'queued' ELSE entry.prior END,
        delivered_at = CASE WHEN entry.deliveries > 1 THEN entry.delivered_at END,
        deliveries = entry.deliveries - 1,
        visible_at = CASE
            WHEN entry.ended_at IS NOT NULL THEN entry.visible_at
            WHEN entry.visible_at = 'infinity' THEN
                CASE WHEN entry.deliveries > 1 THEN entry.visible_at ELSE entry.enqueued_at END
            WHEN cardinality($4::text[]) > 0 THEN entry.visible_at
            WHEN entry.deliveries > 1 THEN statement_timestamp()
            ELSE entry.enqueued_at
        END,
        claim_id = NULL
    FROM held
    WHERE entry.account = $1 AND entry.entry_id = held.entry_id
    RETURNING entry.entry_id, entry.kind, entry.state, entry.visible_at
),

noted AS (
    UPDATE lifecycle.claims AS claim
    SET agent = $2, put_back_at = statement_timestamp(), put_back_to = place.first_at
    FROM (
        SELECT min(back.visible_at) AS first_at
        FROM back
        WHERE back.state = 'queued'
    ) AS place
    WHERE claim.account = $1 AND claim.claim_id = $3 AND place.first_at IS NOT NULL
)

SELECT back.entry_id, back.kind, back.state
FROM back
