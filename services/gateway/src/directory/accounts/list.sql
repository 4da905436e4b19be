-- A page of all accounts, for the deployment's admin. No locks. Served by accounts_pkey.
SELECT account, name, policy::text AS policy, created_at
FROM directory.accounts
WHERE account > $1
    AND deleted_at IS NULL
ORDER BY account
LIMIT $2
