-- The public side of an owner's secrets, the active version of each before the retiring one.
-- Reads only. Index: secrets_pkey.
SELECT ref, status, created_at
FROM delivery.secrets
WHERE account = $1 AND owner = $2
ORDER BY ref, version DESC;
