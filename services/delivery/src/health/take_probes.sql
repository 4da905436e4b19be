-- Takes the looks that are due at these hosts: of all replicas one gets each, since the next is due $3 milliseconds later,
-- when an attempt that was lost with its worker has long ended.
--
-- Locks: the rows, by account and host. Index: host_health_pkey.
WITH due AS (
    SELECT health.account, health.host
    FROM delivery.host_health AS health
    INNER JOIN unnest($1::text[], $2::text[]) AS asked (account, host)
        ON health.account = asked.account AND health.host = asked.host
    WHERE health.probe_at <= statement_timestamp()
    ORDER BY health.account, health.host
    FOR UPDATE OF health
)

UPDATE delivery.host_health AS health
SET probe_at = statement_timestamp() + $3::bigint * interval '1 millisecond'
FROM due
WHERE health.account = due.account AND health.host = due.host
RETURNING health.account, health.host, health.paused_at IS NOT NULL AS is_paused;
