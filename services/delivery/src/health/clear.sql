-- Forgets the failures of hosts that have answered, and with them a pause by the hub; one by a person stands. A row back
-- for each whose breaker was open.
--
-- Locks: the rows. Index: host_health_pkey.
WITH cleared AS (
    DELETE FROM delivery.host_health AS health
    USING unnest($1::text[], $2::text[]) AS answered (account, host)
    WHERE
        health.account = answered.account
        AND health.host = answered.host
        AND coalesce(health.paused_by, 'system:hub') = 'system:hub'
    RETURNING health.probe_at
)

SELECT 1
FROM cleared
WHERE cleared.probe_at IS NOT NULL;
