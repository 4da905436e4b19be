-- Of many lanes, where each begins: when what comes first in it may be given, in $3's order, `now` where there is nothing; and in
-- how many milliseconds: 0 is now, null never. Whoever waits drains then, and that claim decides. What lay in a mailbox when it
-- was closed, and what is overdue, is given to nobody.
--
-- Each lane is walked as by a claim: from where it began when it was seen last ($4, at $5), or from where a first delivery was
-- put back since; as a whole where that is null. What came $6 milliseconds before may have been committed after.
--
-- Sent unprepared, so that it is planned with its values. Each mailbox is named with its account (design rule 7).
--
-- Locks: none. Indexes: entries_waiting, claims_put_back, the primary key of closed_mailboxes.
SELECT
    statement_timestamp() AS now,
    coalesce(waiting.visible_at, statement_timestamp()) AS begins_at,
    CASE
        WHEN waiting.visible_at > statement_timestamp()
            THEN ceil(extract(EPOCH FROM waiting.visible_at - statement_timestamp()) * 1000)::bigint
        WHEN waiting.visible_at IS NOT NULL THEN 0
    END AS visible_in_ms
FROM
    unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
    WITH ORDINALITY AS known (account, agent, lane, begins_at, seen_at, number)
CROSS JOIN LATERAL (
    SELECT
        coalesce(
            (
                SELECT mailbox.closed_at
                FROM lifecycle.closed_mailboxes AS mailbox
                WHERE mailbox.account = known.account AND mailbox.agent = known.agent
            ),
            '-infinity'
        ) AS closed_at
) AS closed
CROSS JOIN LATERAL (
    SELECT
        CASE
            -- Also where the clock was set back since.
            WHEN known.begins_at IS NULL OR known.seen_at > statement_timestamp() THEN '-infinity'
            ELSE least(known.begins_at, min(claim.put_back_to))
        END AS begins_at
    FROM lifecycle.claims AS claim
    WHERE
        claim.account = known.account
        AND claim.agent = known.agent
        AND claim.put_back_at > known.seen_at - $6::bigint * interval '1 millisecond'
) AS asked
LEFT JOIN LATERAL (
    SELECT entry.visible_at
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = known.account
        AND entry.agent = known.agent
        AND entry.lane = known.lane
        AND entry.ended_at IS NULL
        AND entry.visible_at >= asked.begins_at
        AND entry.visible_at > closed.closed_at
        -- Written as a value it would let PostgreSQL take entries_dropping.
        AND entry.visible_at < (SELECT 'infinity'::timestamptz)
        AND entry.enqueued_at > closed.closed_at
        AND entry.drops_at >= statement_timestamp()
    ORDER BY entry.visible_at, entry.seq
    LIMIT 1
) AS waiting ON true
ORDER BY known.number
