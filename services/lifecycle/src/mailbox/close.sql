-- Closes the mailbox of an agent that is deleted, or those of all agents of an account ($2 null): all that came until now
-- ends as undeliverable, by the pass. What comes later is for another agent of that id.
--
-- Locks: the marks, by agent. Indexes: the primary keys of closed_mailboxes, directory.agents.
INSERT INTO lifecycle.closed_mailboxes AS mailbox (account, agent, closed_at)
SELECT $1, agent.agent, statement_timestamp()
FROM (
    SELECT $2::text AS agent
    WHERE $2::text IS NOT NULL
    UNION ALL
    SELECT known.agent
    FROM directory.agents_v1 AS known
    WHERE $2::text IS NULL AND known.account = $1
) AS agent
ORDER BY agent.agent
ON CONFLICT (account, agent) DO UPDATE
    SET closed_at = excluded.closed_at
