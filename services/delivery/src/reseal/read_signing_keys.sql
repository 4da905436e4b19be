-- The next signing keys, in the order of their key, that are sealed under one of these keys ($5). Reads only.
-- Index: signing_keys_pkey.
SELECT '' AS account, '' AS owner, kid AS name, '1' AS version, sealed, kek_id
FROM delivery.signing_keys
WHERE
    kid > $3
    AND kek_id = ANY($5::text[])
    AND $1::text IS NOT NULL AND $2::text IS NOT NULL AND $4::text IS NOT NULL
ORDER BY kid
LIMIT $6;
