-- Adds a human to an account that is there and does not have her. One row: `found` says whether the account is there,
-- `human` is null where she already is.
-- Locks: the account (shared, against its deletion), then the new row. Served by accounts_pkey, humans_pkey.
WITH found AS (
    SELECT account
    FROM directory.accounts
    WHERE account = $1
        AND deleted_at IS NULL
    FOR SHARE
), made AS (
    INSERT INTO directory.humans (account, human, email, role)
    SELECT account, $2, $3, $4
    FROM found
    ON CONFLICT DO NOTHING
    RETURNING account, human, email, role, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $5, $6, 'human.create', 'human:' || human, jsonb_build_object('role', role)
    FROM made
)
SELECT EXISTS (SELECT FROM found) AS found,
    made.human,
    made.email,
    made.role,
    made.created_at
FROM (VALUES (1)) AS one
LEFT JOIN made ON true
