-- Sets how an agent's entries are signed; the last put wins. Locks the agent's row. Index: entry_keys_pkey.
INSERT INTO delivery.entry_keys AS key (account, agent, version, alg, sealed, kek_id)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (account, agent) DO UPDATE
SET
    version = excluded.version,
    alg = excluded.alg,
    sealed = excluded.sealed,
    kek_id = excluded.kek_id,
    created_at = excluded.created_at
RETURNING key.created_at;
