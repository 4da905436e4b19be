-- The agents of an account that carry all of the labels in $2, by id, at most $3. One with a `#` in its id has no address (§4):
-- nobody can be told anything there.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Index: directory.agents_by_labels.
SELECT agent.agent
FROM directory.agents_v1 AS agent
WHERE
    agent.account = $1
    AND agent.account_labels @> jsonb_set('{}', ARRAY[$1::text], $2::text::jsonb)
    AND strpos(agent.agent, '#') = 0
ORDER BY agent.agent
LIMIT $3
