-- Closes the mailbox of an agent that is gone, or those of an account that is ($2 null) in which something lies: all that came
-- until now ends as undeliverable, by the pass. What comes later is for another agent of that id: where one is there already
-- nothing is closed, however late this comes.
--
-- Locks: the marks, by agent. Indexes: entries_waiting, the primary keys of closed_mailboxes, directory.agents.
WITH RECURSIVE filled AS (
    (
        SELECT entry.agent
        FROM lifecycle.entries AS entry
        WHERE $2::text IS NULL AND entry.account = $1 AND entry.ended_at IS NULL
        ORDER BY entry.agent
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT entry.agent
        FROM lifecycle.entries AS entry
        WHERE entry.account = $1 AND entry.agent > filled.agent AND entry.ended_at IS NULL
        ORDER BY entry.agent
        LIMIT 1
    )
    FROM filled
    WHERE filled.agent IS NOT NULL
)

INSERT INTO lifecycle.closed_mailboxes AS mailbox (account, agent, closed_at)
SELECT $1, gone.agent, statement_timestamp()
FROM (
    SELECT $2::text AS agent
    UNION ALL
    SELECT filled.agent
    FROM filled
) AS gone
WHERE
    gone.agent IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM directory.agents_v1 AS known
        WHERE known.account = $1 AND known.agent = gone.agent
    )
ORDER BY gone.agent
ON CONFLICT (account, agent) DO UPDATE
    SET closed_at = greatest(mailbox.closed_at, excluded.closed_at)
