-- Puts the seals of a batch in the place of those they were made from. Locks the rows. Index: signing_keys_pkey.
UPDATE delivery.signing_keys AS kept
SET sealed = resealed.sealed, kek_id = $7
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[])
    AS resealed (account, owner, name, version, old_sealed, sealed)
WHERE kept.kid = resealed.name AND kept.sealed = resealed.old_sealed;
