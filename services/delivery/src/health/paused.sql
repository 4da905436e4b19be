-- The paused hosts of an account. Reads only. Index: host_health_pkey.
SELECT host, paused_at, paused_by, nullif(probe_at, 'infinity') AS probe_at
FROM delivery.host_health
WHERE account = $1 AND paused_at IS NOT NULL
ORDER BY host;
