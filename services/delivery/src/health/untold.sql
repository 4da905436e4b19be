-- Pauses by the hub that nobody was told of yet, oldest first, at most $1. Reads only. Index: host_health_untold.
SELECT account, host, pause_id, paused_at, failing_since, last_failure
FROM delivery.host_health
WHERE pause_id IS NOT NULL AND told_at IS NULL
ORDER BY paused_at
LIMIT $1;
