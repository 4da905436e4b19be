-- The version of a reference in force. Reads only. Index: secrets_one_of_each_status.
SELECT version, sealed, kek_id, created_at
FROM delivery.secrets
WHERE account = $1 AND owner = $2 AND ref = $3 AND status = 'active';
