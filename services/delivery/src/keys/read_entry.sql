-- How an agent's entries are signed, without the secret; no row means the default. Reads only.
-- Index: entry_keys_pkey.
SELECT alg, created_at
FROM delivery.entry_keys
WHERE account = $1 AND agent = $2;
