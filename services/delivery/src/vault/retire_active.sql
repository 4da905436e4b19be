-- A rotation retires the version in force. Locks that row. Index: secrets_one_of_each_status.
UPDATE delivery.secrets
SET status = 'retiring'
WHERE account = $1 AND owner = $2 AND ref = $3 AND status = 'active';
