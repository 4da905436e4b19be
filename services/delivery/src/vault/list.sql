-- The public side of an owner's secrets, the active version of each before the retiring one, which is listed until its
-- overlap is over. Reads only. Index: secrets_pkey.
SELECT ref, status, created_at
FROM delivery.secrets
WHERE account = $1 AND owner = $2 AND (retires_at IS NULL OR retires_at > statement_timestamp())
ORDER BY ref, version DESC;
