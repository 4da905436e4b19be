-- A rotation retires the version in force, for an overlap ($4, in seconds). Locks that row.
-- Index: secrets_one_of_each_status.
UPDATE delivery.secrets
SET status = 'retiring', retires_at = statement_timestamp() + $4::bigint * interval '1 second'
WHERE account = $1 AND owner = $2 AND ref = $3 AND status = 'active';
