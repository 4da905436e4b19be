-- Reads the health of these hosts, for the decision what comes of their failures.
--
-- Locks: the rows, by account and host. Index: host_health_pkey.
SELECT
    health.account,
    health.host,
    health.failures,
    health.probes_failed,
    health.probe_at IS NOT NULL AS is_open,
    health.paused_by,
    coalesce((extract(EPOCH FROM statement_timestamp() - health.failing_since) * 1000)::bigint, 0) AS failing_ms
FROM delivery.host_health AS health
INNER JOIN unnest($1::text[], $2::text[]) AS failed (account, host)
    ON health.account = failed.account AND health.host = failed.host
ORDER BY health.account, health.host
FOR UPDATE OF health;
