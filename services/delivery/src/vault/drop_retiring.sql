-- A rotation makes room: what was retiring is gone. Locks that row. Index: secrets_one_of_each_status.
DELETE FROM delivery.secrets
WHERE account = $1 AND owner = $2 AND ref = $3 AND status = 'retiring';
