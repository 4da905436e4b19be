-- How an agent's entries are signed, with the sealed secret; no row means the default. Reads only.
-- Index: entry_keys_pkey.
SELECT alg, version, sealed, kek_id
FROM delivery.entry_keys
WHERE account = $1 AND agent = $2;
