-- Pauses a host for an account until a person resumes it, also where the hub has paused it; who did so first stands.
--
-- Locks: the row. Index: host_health_pkey.
INSERT INTO delivery.host_health AS health (account, host, probe_at, paused_at, paused_by)
VALUES ($1, $2, 'infinity', statement_timestamp(), $3)
ON CONFLICT (account, host) DO UPDATE
SET
    probe_at = 'infinity',
    paused_at = statement_timestamp(),
    paused_by = excluded.paused_by,
    pause_id = NULL,
    told_at = NULL
WHERE coalesce(health.paused_by, 'system:hub') = 'system:hub';
