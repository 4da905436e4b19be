-- Writes a patched account, whose row lock.sql holds. Served by accounts_pkey.
WITH changed AS (
    UPDATE directory.accounts
    SET name = coalesce($2, name),
        policy = $6::text::jsonb
    WHERE account = $1
        AND deleted_at IS NULL
    RETURNING account, name, policy, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $3, $4, 'account.update', account, $5::text::jsonb
    FROM changed
)
SELECT account, name, policy::text AS policy, created_at
FROM changed
