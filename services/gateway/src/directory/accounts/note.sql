-- Writes down what is about to be done to an account's own secrets, callback hosts or webhook, which delivery keeps. No row back:
-- there is no such account. It is written before it is done, so that nothing is ever done unwritten.
-- Locks: the account (shared, against its deletion). Served by accounts_pkey.
WITH found AS (
    SELECT account
    FROM directory.accounts
    WHERE account = $1
        AND deleted_at IS NULL
    FOR SHARE
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $2, $3, $4, account, $5::text::jsonb
    FROM found
)
SELECT account
FROM found
