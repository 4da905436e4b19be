-- Forgets every version of a reference. Locks its rows. Index: secrets_pkey.
DELETE FROM delivery.secrets
WHERE account = $1 AND owner = $2 AND ref = $3;
