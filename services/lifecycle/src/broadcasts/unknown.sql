-- Of these ids, those that no agent of the account has, at most $3.
--
-- Sent unprepared, so that it is planned for as many as there are.
--
-- Locks: none. Index: the primary key of directory.agents.
SELECT asked.agent
FROM unnest($2::text[]) AS asked (agent)
WHERE
    NOT EXISTS (
        SELECT 1
        FROM directory.agents_v1 AS known
        WHERE known.account = $1 AND known.agent = asked.agent
    )
ORDER BY asked.agent
LIMIT $3
