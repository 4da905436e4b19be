-- One agent of an account; no row: it has no such agent. No locks. Served by agents_pkey.
SELECT agents.agent,
    agents.labels::text AS labels,
    agents.created_at
FROM directory.agents
JOIN directory.accounts ON accounts.account = agents.account
WHERE agents.account = $1
    AND agents.agent = $2
    AND accounts.deleted_at IS NULL
