-- Reads the policy that a patch is merged into, and holds the account until the patch is written.
-- Locks: the account. Served by accounts_pkey.
SELECT policy::text AS policy
FROM directory.accounts
WHERE account = $1
    AND deleted_at IS NULL
FOR NO KEY UPDATE
