-- Makes this key the one that signs after a lead ($5, in seconds), at once if it is the first. Decides under the lock of
-- lock_signing: a key that is still to begin is the rotation that was asked for, and no other is made. No row then.
-- Locks nothing more; a handful of rows, no index.
INSERT INTO delivery.signing_keys (kid, public_key, sealed, kek_id, signs_from)
SELECT
    $1,
    $2,
    $3,
    $4,
    statement_timestamp() + CASE WHEN EXISTS (SELECT 1 FROM delivery.signing_keys) THEN $5::bigint ELSE 0 END
    * interval '1 second'
WHERE NOT EXISTS (SELECT 1 FROM delivery.signing_keys WHERE signs_from > statement_timestamp())
RETURNING signs_from;
