-- The version in force from now on, unless its owner has as many references as one may have ($7): then no row.
-- Locks nothing that exists. Index: secrets_pkey.
INSERT INTO delivery.secrets (account, owner, ref, version, status, sealed, kek_id)
SELECT $1, $2, $3, $4, 'active', $5, $6
WHERE (
    SELECT count(*)
    FROM delivery.secrets
    WHERE account = $1 AND owner = $2 AND ref <> $3 AND status = 'active'
) < $7
RETURNING created_at;
