-- Of many mailboxes, each for a drain that names $3 as its session or null, those with something to give now. Whoever waits
-- drains then, and that claim decides.
--
-- Sent unprepared, so that it is planned with its values. Each mailbox is named with its account (design rule 7).
--
-- Locks: none. Index: entries_waiting.
SELECT asked.account, asked.agent, asked.session
FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account, agent, session)
WHERE EXISTS (
    SELECT 1
    FROM (
        VALUES ('everyone'), (CASE WHEN asked.session IS NOT NULL THEN 'sessions' END), (asked.session)
    ) AS shown (lane)
    CROSS JOIN LATERAL (
        SELECT 1
        FROM lifecycle.entries AS entry
        WHERE
            entry.account = asked.account
            AND entry.agent = asked.agent
            AND entry.lane = shown.lane
            AND entry.ended_at IS NULL
            AND entry.visible_at <= statement_timestamp()
        LIMIT 1
    ) AS waiting
)
