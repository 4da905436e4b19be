-- How much waits in each of these mailboxes, in their order: of each no more than $3 entries are counted. What is overdue is
-- about to be ended, and not counted (design rule 2).
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Index: entries_waiting.
SELECT
    asked.agent,
    waiting.queued,
    waiting.delivered
FROM unnest($2::text[]) WITH ORDINALITY AS asked (agent, number)
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE found.state = 'queued') AS queued,
        count(*) FILTER (WHERE found.state = 'delivered') AS delivered
    FROM (
        SELECT entry.state
        FROM lifecycle.entries AS entry
        WHERE
            entry.account = $1
            AND entry.agent = asked.agent
            AND entry.ended_at IS NULL
            AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END >= statement_timestamp()
        LIMIT $3
    ) AS found
) AS waiting
ORDER BY asked.number
