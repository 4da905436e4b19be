-- When each of these agents was last heard from, and whether that is within $3 seconds (§15.2). One row for each, in their
-- order. An id that no agent of the account has was never heard from (§15.3), nor was an agent by what one did that had its id
-- before.
--
-- Reads only. Indexes: the primary keys of directory.agents, directory.accounts, principals.
SELECT
    principal.last_seen,
    principal.last_seen >= statement_timestamp() - $3 * interval '1 second' AS is_online
FROM unnest($2::text[]) WITH ORDINALITY AS asked (agent, number)
LEFT JOIN LATERAL (
    SELECT known.created_at
    FROM directory.agents_v1 AS known
    WHERE known.account = $1 AND known.agent = asked.agent
    LIMIT 1
) AS known ON true
LEFT JOIN LATERAL (
    SELECT principal.last_seen
    FROM presence.principals AS principal
    WHERE principal.account = $1 AND principal.agent = asked.agent AND principal.last_seen >= known.created_at
    LIMIT 1
) AS principal ON true
ORDER BY asked.number;
