-- Of many mailboxes, each for a drain that names $3 as its session or null, those with something to give, and in how many
-- milliseconds: 0 is now. Whoever waits drains then, and that claim decides. What lay in a mailbox when it was closed, and what
-- is overdue, is given to nobody.
--
-- Sent unprepared, so that it is planned with its values. Each mailbox is named with its account (design rule 7).
--
-- Locks: none. Indexes: entries_waiting, the primary key of closed_mailboxes.
SELECT
    asked.account,
    asked.agent,
    asked.session,
    greatest(ceil(extract(EPOCH FROM next.visible_at - statement_timestamp()) * 1000), 0)::bigint AS visible_in_ms
FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account, agent, session)
CROSS JOIN LATERAL (
    SELECT coalesce(max(mailbox.closed_at), '-infinity') AS closed_at
    FROM lifecycle.closed_mailboxes AS mailbox
    WHERE mailbox.account = asked.account AND mailbox.agent = asked.agent
) AS closed
CROSS JOIN LATERAL (
    SELECT min(waiting.visible_at) AS visible_at
    FROM (
        VALUES ('everyone'), (CASE WHEN asked.session IS NOT NULL THEN 'sessions' END), (asked.session)
    ) AS shown (lane)
    CROSS JOIN LATERAL (
        SELECT entry.visible_at
        FROM lifecycle.entries AS entry
        WHERE
            entry.account = asked.account
            AND entry.agent = asked.agent
            AND entry.lane = shown.lane
            AND entry.ended_at IS NULL
            AND entry.visible_at > closed.closed_at
            AND entry.visible_at < 'infinity'
            AND entry.enqueued_at > closed.closed_at
            AND entry.drops_at >= statement_timestamp()
        ORDER BY entry.visible_at, entry.seq
        LIMIT 1
    ) AS waiting
) AS next
WHERE next.visible_at IS NOT NULL
