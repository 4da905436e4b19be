-- A page of an account's audit, newest first; $2 is the event before the page, or empty. No row at all: no such account,
-- one row of nulls: nothing written. No locks. Served by accounts_pkey, audit_pkey.
SELECT event.event,
    event.at,
    event.actor,
    event.action,
    event.target,
    event.detail::text AS detail
FROM directory.accounts AS account
LEFT JOIN LATERAL (
    SELECT *
    FROM directory.audit
    WHERE audit.account = account.account
        AND ($2 = '' OR audit.event < $2)
    ORDER BY audit.event DESC
    LIMIT $3
) AS event ON true
WHERE account.account = $1
    AND account.deleted_at IS NULL
ORDER BY event.event DESC
