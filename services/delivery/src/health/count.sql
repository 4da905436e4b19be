-- Counts hosts with an open breaker, and among them the paused, up to $1. Reads only, the whole of a table that is small
-- unless much has failed.
SELECT count(*) AS open, count(few.paused_at) AS paused
FROM (
    SELECT health.paused_at
    FROM delivery.host_health AS health
    WHERE health.probe_at IS NOT NULL
    LIMIT $1
) AS few;
