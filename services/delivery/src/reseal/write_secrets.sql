-- Puts the seals of a batch in the place of those they were made from. One that was changed meanwhile stays: its row no
-- longer holds the old seal. Locks the rows, in the order of the key. Index: secrets_pkey.
UPDATE delivery.secrets AS kept
SET sealed = resealed.sealed, kek_id = $7
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[])
    AS resealed (account, owner, name, version, old_sealed, sealed)
WHERE
    kept.account = resealed.account
    AND kept.owner = resealed.owner
    AND kept.ref = resealed.name
    AND kept.version = resealed.version::bigint
    AND kept.sealed = resealed.old_sealed;
