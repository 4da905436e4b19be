-- Writes what came of failures: counts, when the next look is due where that changes ($6 not null), and the pause where one
-- begins ($7 not null).
--
-- Locks: rows that the transaction holds already. Index: host_health_pkey.
UPDATE delivery.host_health AS health
SET
    failures = next.failures,
    failing_since = coalesce(health.failing_since, statement_timestamp()),
    last_failure = next.last_failure,
    probes_failed = next.probes_failed,
    probe_at = coalesce(statement_timestamp() + next.probe_in_ms * interval '1 millisecond', health.probe_at),
    paused_at = CASE WHEN next.pause_id IS NULL THEN health.paused_at ELSE statement_timestamp() END,
    paused_by = CASE WHEN next.pause_id IS NULL THEN health.paused_by ELSE 'system:hub' END,
    pause_id = coalesce(next.pause_id, health.pause_id)
FROM
    unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::bigint[], $7::text[])
        AS next (account, host, failures, last_failure, probes_failed, probe_in_ms, pause_id)
WHERE health.account = next.account AND health.host = next.host;
