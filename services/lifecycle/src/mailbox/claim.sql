-- Gives entries of a mailbox to a drain for the length of the visibility window, and stamps them as delivered: the drain's
-- request is the evidence (§8.7, §14.2, design rule 9).
--
-- Decides: an entry of one of the drain's lanes ($3) is visible and not past its `drops_at`. First deliveries are in the order
-- of arrival; what is in flight has its `visible_at` ahead and is never walked past. At most $5 entries of together $6 bytes,
-- but one. What lay in the mailbox when it was closed is given to nobody. Always a row with `now`; where nothing is given,
-- with the time until something may be.
--
-- A claim takes once (design rule 3): its row in `claims` is written with what it takes, or when it is repeated ($8). One that
-- is known gets again what it still holds, its reply lost, and nothing else, however late this comes. `contended`: the claim
-- became known while this ran, nothing was taken, and the caller asks again.
--
-- Sent unprepared, so that the number of entries is known when it is planned.
--
-- Locks: the entries of the walk; those that others hold are passed over, so that no two drains get one. Then the claim, for
-- which one of the same id that is under way is waited for. Indexes: entries_claimed, entries_waiting, the primary keys of
-- claims, closed_mailboxes, entries, directives.
WITH known AS MATERIALIZED (
    SELECT 1
    FROM lifecycle.claims AS claim
    WHERE claim.account = $1 AND claim.claim_id = $4
),

held AS MATERIALIZED (
    SELECT entry.entry_id, entry.kind, entry.seq, entry.enqueued_at
    FROM lifecycle.entries AS entry
    WHERE entry.account = $1 AND entry.claim_id = $4 AND entry.agent = $2 AND entry.ended_at IS NULL
),

closed AS MATERIALIZED (
    SELECT coalesce(max(mailbox.closed_at), '-infinity') AS closed_at
    FROM lifecycle.closed_mailboxes AS mailbox
    WHERE mailbox.account = $1 AND mailbox.agent = $2
),

visible AS MATERIALIZED (
    SELECT entry.entry_id, entry.visible_at, entry.seq, entry.content_bytes
    FROM unnest($3::text[]) AS asked (lane)
    CROSS JOIN LATERAL (
        SELECT *
        FROM lifecycle.entries AS waiting
        WHERE
            waiting.account = $1
            AND waiting.agent = $2
            AND waiting.lane = asked.lane
            AND waiting.ended_at IS NULL
            -- Also this bounds the index: nothing is visible before it came.
            AND waiting.visible_at > (SELECT closed.closed_at FROM closed)
            AND waiting.visible_at <= statement_timestamp()
            AND waiting.enqueued_at > (SELECT closed.closed_at FROM closed)
            AND waiting.drops_at >= statement_timestamp()
        ORDER BY waiting.visible_at, waiting.seq
        LIMIT $5
        FOR UPDATE SKIP LOCKED
    ) AS entry
    WHERE NOT EXISTS (SELECT 1 FROM known)
),

fitting AS MATERIALIZED (
    SELECT walked.entry_id
    FROM (
        SELECT
            visible.entry_id,
            row_number() OVER in_order AS number,
            sum(visible.content_bytes) OVER in_order AS bytes
        FROM visible
        WINDOW in_order AS (ORDER BY visible.visible_at, visible.seq)
    ) AS walked
    WHERE walked.number = 1 OR (walked.number <= $5 AND walked.bytes <= $6::bigint)
),

made AS (
    INSERT INTO lifecycle.claims (account, claim_id, known_at)
    SELECT $1, $4, statement_timestamp()
    WHERE ($8::boolean OR EXISTS (SELECT 1 FROM fitting)) AND NOT EXISTS (SELECT 1 FROM known)
    ON CONFLICT DO NOTHING
    RETURNING claim_id
),

claimed AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = 'delivered',
        delivered_at = coalesce(entry.delivered_at, statement_timestamp()),
        deliveries = entry.deliveries + 1,
        visible_at = statement_timestamp() + $7::bigint * interval '1 second',
        claim_id = made.claim_id
    FROM made
    CROSS JOIN fitting
    WHERE
        entry.account = $1
        AND entry.entry_id = fitting.entry_id
        AND entry.ended_at IS NULL
        AND entry.visible_at <= statement_timestamp()
    RETURNING entry.entry_id, entry.kind, entry.seq, entry.enqueued_at, entry.deliveries = 1 AS is_first
),

given AS (
    SELECT claimed.entry_id, claimed.kind, claimed.seq, claimed.enqueued_at, claimed.is_first
    FROM claimed
    UNION ALL
    SELECT held.entry_id, held.kind, held.seq, held.enqueued_at, false
    FROM held
)

SELECT
    statement_timestamp() AS now,
    CASE
        WHEN given.entry_id IS NULL
            THEN (
                SELECT (extract(EPOCH FROM min(next.visible_at) - statement_timestamp()) * 1000)::bigint
                FROM unnest($3::text[]) AS asked (lane)
                CROSS JOIN LATERAL (
                    SELECT waiting.visible_at
                    FROM lifecycle.entries AS waiting
                    WHERE
                        waiting.account = $1
                        AND waiting.agent = $2
                        AND waiting.lane = asked.lane
                        AND waiting.ended_at IS NULL
                        AND waiting.visible_at > (SELECT closed.closed_at FROM closed)
                        AND waiting.visible_at < 'infinity'
                        AND waiting.enqueued_at > (SELECT closed.closed_at FROM closed)
                        AND waiting.drops_at >= statement_timestamp()
                    ORDER BY waiting.visible_at, waiting.seq
                    LIMIT 1
                ) AS next
            )
    END AS visible_in_ms,
    given.entry_id,
    given.kind,
    given.is_first,
    directive.directive AS payload,
    ($8 OR EXISTS (SELECT 1 FROM fitting))
    AND NOT EXISTS (SELECT 1 FROM known)
    AND NOT EXISTS (SELECT 1 FROM made) AS contended
FROM (VALUES (1)) AS one
LEFT JOIN given ON true
LEFT JOIN lifecycle.directives AS directive
    ON given.kind = 'directive' AND directive.account = $1 AND directive.directive_id = given.entry_id
ORDER BY given.enqueued_at, given.seq
