-- Gives entries of a mailbox to a drain for the length of the visibility window, and stamps them as delivered: the drain's
-- request is the evidence (§8.7, §14.2, design rule 9).
--
-- Decides: an entry of one of the drain's lanes ($3) is visible and not past its `drops_at`. First deliveries are in the order
-- of arrival; what is in flight has its `visible_at` ahead and is never walked past. At most $5 entries of together $6 bytes,
-- but one. What lay in the mailbox when it was closed is given to nobody. Always a row with `now`; where nothing is given,
-- with the time until something may be.
--
-- What drains took leaves dead entries at the beginning of a lane, which vacuum cannot remove while an old snapshot is held. So
-- each lane is walked from where it began when it was seen last ($9, at $10), or from where a first delivery was put back since
-- ($11 milliseconds before may have been committed after); as a whole where that is null. `heads` is where each begins now:
-- with what was not taken of it, also where another drain may be about to. No more is locked than would fit if nobody did.
--
-- A claim takes once (design rule 3): its row in `claims` is written with what it takes, or when it is repeated ($8). One that
-- is known gets again what it still holds, its reply lost, and nothing else, however late this comes. `contended`: the claim
-- became known while this ran, nothing was taken, and the caller asks again.
--
-- Sent unprepared, so that the number of entries is known when it is planned. What is locked is found again by where it is: by any
-- index an old snapshot would be in the way. What changed between its sight and its lock is not found, and left to the next.
--
-- Locks: the entries of the walk; those that others hold are passed over, so that no two drains get one. Then the claim, for
-- which one of the same id that is under way is waited for. Indexes: entries_claimed, entries_waiting, the primary keys of
-- claims, closed_mailboxes, directives; claims_put_back.
WITH known AS MATERIALIZED (
    SELECT 1
    FROM lifecycle.claims AS claim
    WHERE claim.account = $1 AND claim.claim_id = $4
),

held AS MATERIALIZED (
    SELECT entry.entry_id, entry.kind, entry.seq, entry.enqueued_at
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = $1
        AND entry.claim_id = $4
        AND entry.agent = $2
        AND entry.state IN ('queued', 'delivered')
),

closed AS MATERIALIZED (
    SELECT
        coalesce(
            (
                SELECT mailbox.closed_at
                FROM lifecycle.closed_mailboxes AS mailbox
                WHERE mailbox.account = $1 AND mailbox.agent = $2
            ),
            '-infinity'
        ) AS closed_at
),

asked AS MATERIALIZED (
    SELECT
        known.number,
        known.lane,
        CASE
            -- Also where the clock was set back since.
            WHEN known.begins_at IS NULL OR known.seen_at > statement_timestamp() THEN '-infinity'
            ELSE least(known.begins_at, put_back.first_at)
        END AS begins_at
    FROM unnest($3::text[], $9::timestamptz[], $10::timestamptz[]) WITH ORDINALITY AS known (lane, begins_at, seen_at, number)
    CROSS JOIN LATERAL (
        SELECT min(claim.put_back_to) AS first_at
        FROM lifecycle.claims AS claim
        WHERE
            claim.account = $1
            AND claim.agent = $2
            AND claim.put_back_at > known.seen_at - $11::bigint * interval '1 millisecond'
    ) AS put_back
),

lying AS MATERIALIZED (
    SELECT asked.number AS lane_number, entry.entry_id, entry.visible_at, entry.seq, entry.content_bytes
    FROM asked
    CROSS JOIN LATERAL (
        SELECT waiting.entry_id, waiting.visible_at, waiting.seq, waiting.content_bytes
        FROM lifecycle.entries AS waiting
        WHERE
            waiting.account = $1
            AND waiting.agent = $2
            AND waiting.lane = asked.lane
            AND waiting.ended_at IS NULL
            AND waiting.visible_at >= asked.begins_at
            -- Also this bounds the index: nothing is visible before it came.
            AND waiting.visible_at > (SELECT closed.closed_at FROM closed)
            AND waiting.visible_at <= statement_timestamp()
            AND waiting.enqueued_at > (SELECT closed.closed_at FROM closed)
            AND waiting.drops_at >= statement_timestamp()
        ORDER BY waiting.visible_at, waiting.seq
        LIMIT $5
    ) AS entry
    WHERE NOT EXISTS (SELECT 1 FROM known)
),

room AS MATERIALIZED (
    SELECT count(*) AS entries
    FROM (
        SELECT
            row_number() OVER in_order AS number,
            sum(lying.content_bytes) OVER in_order AS bytes
        FROM lying
        WINDOW in_order AS (ORDER BY lying.visible_at, lying.seq)
    ) AS walked
    WHERE walked.number = 1 OR (walked.number <= $5 AND walked.bytes <= $6::bigint)
),

-- What is dead before was stepped over once; where nothing was looked for, nothing was.
begun AS MATERIALIZED (
    SELECT
        asked.lane,
        coalesce(
            min(lying.visible_at),
            CASE
                WHEN EXISTS (SELECT 1 FROM known) THEN asked.begins_at
                ELSE statement_timestamp()
            END
        ) AS begins_at
    FROM asked
    LEFT JOIN lying ON asked.number = lying.lane_number
    GROUP BY asked.number, asked.lane, asked.begins_at
),

visible AS MATERIALIZED (
    SELECT entry.place, entry.visible_at, entry.seq, entry.content_bytes
    FROM begun
    CROSS JOIN LATERAL (
        SELECT waiting.ctid AS place, waiting.visible_at, waiting.seq, waiting.content_bytes
        FROM lifecycle.entries AS waiting
        WHERE
            waiting.account = $1
            AND waiting.agent = $2
            AND waiting.lane = begun.lane
            AND waiting.ended_at IS NULL
            AND waiting.visible_at >= begun.begins_at
            AND waiting.visible_at > (SELECT closed.closed_at FROM closed)
            AND waiting.visible_at <= statement_timestamp()
            AND waiting.enqueued_at > (SELECT closed.closed_at FROM closed)
            AND waiting.drops_at >= statement_timestamp()
        ORDER BY waiting.visible_at, waiting.seq
        LIMIT (SELECT room.entries FROM room)
        FOR UPDATE SKIP LOCKED
    ) AS entry
    WHERE EXISTS (SELECT 1 FROM lying)
),

fitting AS MATERIALIZED (
    SELECT walked.place
    FROM (
        SELECT
            visible.place,
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
    WHERE entry.ctid = fitting.place
    RETURNING entry.entry_id, entry.kind, entry.seq, entry.enqueued_at, entry.deliveries = 1 AS is_first
),

heads AS MATERIALIZED (
    SELECT array_agg(head.begins_at ORDER BY head.number) AS begins_at
    FROM (
        SELECT
            asked.number,
            CASE
                WHEN bool_or(lying.entry_id IS NOT NULL AND claimed.entry_id IS NULL)
                    THEN min(lying.visible_at) FILTER (WHERE claimed.entry_id IS NULL)
                WHEN count(lying.entry_id) < $5 THEN statement_timestamp()
                ELSE max(lying.visible_at)
            END AS begins_at
        FROM asked
        LEFT JOIN lying ON asked.number = lying.lane_number
        LEFT JOIN claimed ON lying.entry_id = claimed.entry_id
        GROUP BY asked.number
    ) AS head
),

outcome AS MATERIALIZED (
    SELECT
        EXISTS (SELECT 1 FROM known) AS is_known,
        ($8::boolean OR EXISTS (SELECT 1 FROM fitting))
        AND NOT EXISTS (SELECT 1 FROM known)
        AND NOT EXISTS (SELECT 1 FROM made) AS contended
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
                FROM begun
                CROSS JOIN LATERAL (
                    SELECT waiting.visible_at
                    FROM lifecycle.entries AS waiting
                    WHERE
                        waiting.account = $1
                        AND waiting.agent = $2
                        AND waiting.lane = begun.lane
                        AND waiting.ended_at IS NULL
                        AND waiting.visible_at >= begun.begins_at
                        AND waiting.visible_at > (SELECT closed.closed_at FROM closed)
                        -- Written as a value it would let PostgreSQL take entries_dropping.
                        AND waiting.visible_at < (SELECT 'infinity'::timestamptz)
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
    outcome.contended,
    CASE WHEN NOT (outcome.is_known OR outcome.contended) THEN (SELECT heads.begins_at FROM heads) END AS heads
FROM outcome
LEFT JOIN given ON true
LEFT JOIN lifecycle.directives AS directive
    ON given.kind = 'directive' AND directive.account = $1 AND directive.directive_id = given.entry_id
ORDER BY given.enqueued_at, given.seq
