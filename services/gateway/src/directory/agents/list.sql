-- A page of an account's agents; no row at all: no such account, one row of nulls: no agents.
-- No locks. Served by accounts_pkey, agents_pkey.
SELECT agent.agent,
    agent.labels::text AS labels,
    agent.created_at
FROM directory.accounts AS account
LEFT JOIN LATERAL (
    SELECT *
    FROM directory.agents
    WHERE agents.account = account.account
        AND agents.agent > $2
    ORDER BY agents.agent
    LIMIT $3
) AS agent ON true
WHERE account.account = $1
    AND account.deleted_at IS NULL
ORDER BY agent.agent
