-- Whether an account has an agent. No locks. Served by agents_pkey.
SELECT agents.agent
FROM directory.agents
JOIN directory.accounts ON accounts.account = agents.account
WHERE agents.account = $1
    AND agents.agent = $2
    AND accounts.deleted_at IS NULL
