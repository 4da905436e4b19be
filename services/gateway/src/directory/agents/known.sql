-- Those of the ids $2 that agents of the account have, by id. No locks. Served by agents_pkey.
SELECT agents.agent,
    agents.labels::text AS labels,
    agents.created_at
FROM directory.agents
WHERE agents.account = $1
    AND agents.agent = ANY($2::text[])
ORDER BY agents.agent
