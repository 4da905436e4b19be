-- Decides whether an account id is still free; a deleted account's is not. No row back: it is taken.
-- Locks: the new row. Served by accounts_pkey.
WITH made AS (
    INSERT INTO directory.accounts (account, name)
    VALUES ($1, $2)
    ON CONFLICT DO NOTHING
    RETURNING account, name, policy, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'account.create', account
    FROM made
)
SELECT account, name, policy::text AS policy, created_at
FROM made
