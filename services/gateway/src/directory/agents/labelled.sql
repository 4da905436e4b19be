-- The agents of an account that carry all of the labels in $2, by id, at most $3. One with a `#` in its id has no address (§4):
-- nobody can be told anything there. No locks. Served by agents_by_labels.
SELECT agents.agent
FROM directory.agents
WHERE jsonb_set('{}', ARRAY[agents.account], agents.labels) @> jsonb_set('{}', ARRAY[$1::text], $2::text::jsonb)
    AND agents.account = $1
    AND strpos(agents.agent, '#') = 0
ORDER BY agents.agent
LIMIT $3
