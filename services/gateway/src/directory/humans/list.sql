-- A page of an account's humans; no row at all: no such account, one row of nulls: no humans.
-- No locks. Served by accounts_pkey, humans_pkey.
SELECT human.human,
    human.email,
    human.role,
    human.created_at
FROM directory.accounts AS account
LEFT JOIN LATERAL (
    SELECT *
    FROM directory.humans
    WHERE humans.account = account.account
        AND humans.human > $2
    ORDER BY humans.human
    LIMIT $3
) AS human ON true
WHERE account.account = $1
    AND account.deleted_at IS NULL
ORDER BY human.human
