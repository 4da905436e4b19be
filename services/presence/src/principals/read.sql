-- When each of these agents was last heard from, and whether that is within $3 seconds (§15.2). One row for each,
-- in their order. Reads only. Index: principals_pkey.
SELECT
    principal.last_seen,
    principal.last_seen >= statement_timestamp() - $3 * interval '1 second' AS is_online
FROM unnest($2::text[]) WITH ORDINALITY AS asked (agent, number)
LEFT JOIN presence.principals AS principal
    ON principal.account = $1 AND principal.agent = asked.agent
ORDER BY asked.number;
