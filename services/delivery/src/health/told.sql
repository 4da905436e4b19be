-- Notes that an account's people were told of a pause, if it still stands. Locks the row. Index: host_health_pkey.
UPDATE delivery.host_health
SET told_at = statement_timestamp()
WHERE account = $1 AND host = $2 AND pause_id = $3;
