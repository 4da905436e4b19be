-- The public keys by which what the hub signed can be verified, newest first. Reads only; a handful of rows, no
-- index.
SELECT kid, public_key
FROM delivery.signing_keys
ORDER BY status = 'active' DESC, created_at DESC, kid;
