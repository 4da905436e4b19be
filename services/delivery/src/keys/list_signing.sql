-- The public keys by which what the hub signed, or will sign soon, can be verified, the newest first. Reads only; a handful
-- of rows, no index.
SELECT kid, public_key, signs_from, published_until
FROM delivery.signing_keys
WHERE published_until IS NULL OR published_until > statement_timestamp()
ORDER BY signs_from DESC, kid;
