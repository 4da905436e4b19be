-- Writes down what was made of an account's messages, once however often it is said: the event has the time of what was made
-- in its id. No row back: there is no such account, or it is written down.
-- Locks: the account (shared, against its deletion). Served by accounts_pkey, audit_pkey.
WITH found AS (
    SELECT account
    FROM directory.accounts
    WHERE account = $1
        AND deleted_at IS NULL
    FOR SHARE
)
INSERT INTO directory.audit (account, event, actor, action, target, detail)
SELECT account, $2, $3, $4, $5, $6::text::jsonb
FROM found
ON CONFLICT DO NOTHING
RETURNING event
