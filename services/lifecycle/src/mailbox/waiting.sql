-- How much waits in each of these mailboxes, in their order: of each no more than $3 entries are counted. What is overdue, and
-- what lay there when the mailbox was closed, is about to be ended and not counted (design rule 2).
--
-- Counted is what lies in the lanes that are no session's own; each is walked by itself, so that the index bounds it.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: entries_waiting, the primary key of closed_mailboxes.
SELECT
    asked.agent,
    waiting.queued,
    waiting.delivered
FROM unnest($2::text[]) WITH ORDINALITY AS asked (agent, number)
CROSS JOIN LATERAL (
    SELECT
        coalesce(
            (
                SELECT mailbox.closed_at
                FROM lifecycle.closed_mailboxes AS mailbox
                WHERE mailbox.account = $1 AND mailbox.agent = asked.agent
            ),
            '-infinity'
        ) AS closed_at
) AS closed
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE found.state = 'queued') AS queued,
        count(*) FILTER (WHERE found.state = 'delivered') AS delivered
    FROM (
        SELECT lying.state
        FROM (VALUES ('everyone'), ('sessions')) AS shown (lane)
        CROSS JOIN LATERAL (
            SELECT entry.state
            FROM lifecycle.entries AS entry
            WHERE
                entry.account = $1
                AND entry.agent = asked.agent
                AND entry.lane = shown.lane
                AND entry.ended_at IS NULL
                AND entry.visible_at > closed.closed_at
                AND entry.enqueued_at > closed.closed_at
                AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END
                >= statement_timestamp()
            LIMIT $3
        ) AS lying
        LIMIT $3
    ) AS found
) AS waiting
ORDER BY asked.number
