-- Reads a host and, where its challenge is yet to be found, charges its account for the look that is to come: `affordable`
-- unless that account has spent what a minute allows ($4) since its minute began. No row: no such host.
-- Locks the account's budget. Indexes: callback_hosts_pkey, verification_budgets_pkey.
WITH host AS MATERIALIZED (
    SELECT host, method, status, challenge, is_rechallenged
    FROM delivery.callback_hosts
    WHERE account = $1 AND agent = $2 AND host = $3
),

charge AS (
    INSERT INTO delivery.verification_budgets AS budget (account, began_at, spent)
    SELECT $1, statement_timestamp(), 1
    FROM host
    WHERE host.status = 'pending' OR host.is_rechallenged
    ON CONFLICT (account) DO UPDATE
        SET
            began_at = CASE
                WHEN budget.began_at <= statement_timestamp() - interval '1 minute' THEN statement_timestamp()
                ELSE budget.began_at
            END,
            spent = CASE
                WHEN budget.began_at <= statement_timestamp() - interval '1 minute' THEN 1
                ELSE budget.spent + 1
            END
        WHERE budget.spent < $4 OR budget.began_at <= statement_timestamp() - interval '1 minute'
    RETURNING account
)

SELECT
    host.host,
    host.method,
    host.status,
    host.challenge,
    host.is_rechallenged,
    EXISTS (SELECT 1 FROM charge) AS affordable
FROM host;
