-- Gives entries of a mailbox to a drain for the length of the visibility window, and stamps them as delivered: the drain's
-- request is the evidence (§8.7, §14.2, design rule 9).
--
-- Decides: an entry of one of the drain's lanes ($3) is visible and not past its `drops_at`; or this very claim holds it
-- already, its reply lost, and gets it again. First deliveries are in the order of arrival; what is in flight has its
-- `visible_at` ahead and is never walked past. At most $5 entries of together $6 bytes, but one. An entry that is past its
-- `drops_at` comes back as overdue, without payload: the caller ends it and claims again. What lay in the mailbox when it
-- was closed is given to nobody. Always a row with `now`; where nothing is given, with the time until something may be.
--
-- Sent unprepared, so that the number of entries is known when it is planned.
--
-- Locks: the entries of the walk; those that others hold are passed over, so that no two drains get one.
-- Indexes: entries_claimed, entries_waiting, the primary keys of closed_mailboxes, entries, directives.
WITH held AS MATERIALIZED (
    SELECT entry.entry_id, entry.kind, entry.seq, entry.enqueued_at
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = $1
        AND entry.claim_id = $4
        AND entry.agent = $2
        AND entry.ended_at IS NULL
        AND entry.visible_at > statement_timestamp()
        AND entry.visible_at < 'infinity'
),

closed AS MATERIALIZED (
    SELECT coalesce(max(mailbox.closed_at), '-infinity') AS closed_at
    FROM lifecycle.closed_mailboxes AS mailbox
    WHERE mailbox.account = $1 AND mailbox.agent = $2
),

visible AS MATERIALIZED (
    SELECT
        entry.entry_id,
        entry.visible_at,
        entry.seq,
        entry.content_bytes,
        entry.drops_at < statement_timestamp() AS overdue
    FROM unnest($3::text[]) AS asked (lane)
    CROSS JOIN LATERAL (
        SELECT *
        FROM lifecycle.entries AS waiting
        WHERE
            waiting.account = $1
            AND waiting.agent = $2
            AND waiting.lane = asked.lane
            AND waiting.ended_at IS NULL
            AND waiting.visible_at <= statement_timestamp()
            AND waiting.enqueued_at > (SELECT closed.closed_at FROM closed)
        ORDER BY waiting.visible_at, waiting.seq
        LIMIT $5
        FOR UPDATE SKIP LOCKED
    ) AS entry
    WHERE NOT EXISTS (SELECT 1 FROM held)
),

fitting AS (
    SELECT walked.entry_id
    FROM (
        SELECT
            visible.entry_id,
            row_number() OVER in_order AS number,
            sum(visible.content_bytes) OVER in_order AS bytes
        FROM visible
        WHERE NOT visible.overdue
        WINDOW in_order AS (ORDER BY visible.visible_at, visible.seq)
    ) AS walked
    WHERE walked.number = 1 OR (walked.number <= $5 AND walked.bytes <= $6::bigint)
),

claimed AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = 'delivered',
        delivered_at = coalesce(entry.delivered_at, statement_timestamp()),
        deliveries = entry.deliveries + 1,
        visible_at = statement_timestamp() + $7::bigint * interval '1 second',
        claim_id = $4
    FROM fitting
    WHERE
        entry.account = $1
        AND entry.entry_id = fitting.entry_id
        AND entry.ended_at IS NULL
        AND entry.visible_at <= statement_timestamp()
    RETURNING entry.entry_id, entry.kind, entry.seq, entry.enqueued_at, entry.deliveries = 1 AS is_first
),

given AS (
    SELECT claimed.entry_id, claimed.kind, claimed.seq, claimed.enqueued_at, claimed.is_first, false AS overdue
    FROM claimed
    UNION ALL
    SELECT held.entry_id, held.kind, held.seq, held.enqueued_at, false, false
    FROM held
    UNION ALL
    SELECT visible.entry_id, '', visible.seq, visible.visible_at, false, true
    FROM visible
    WHERE visible.overdue
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
                        AND waiting.visible_at < 'infinity'
                    ORDER BY waiting.visible_at, waiting.seq
                    LIMIT 1
                ) AS next
            )
    END AS visible_in_ms,
    given.entry_id,
    given.kind,
    given.is_first,
    given.overdue,
    directive.directive AS payload
FROM (VALUES (1)) AS one
LEFT JOIN given ON true
LEFT JOIN lifecycle.directives AS directive
    ON given.kind = 'directive' AND directive.account = $1 AND directive.directive_id = given.entry_id
ORDER BY given.enqueued_at, given.seq
