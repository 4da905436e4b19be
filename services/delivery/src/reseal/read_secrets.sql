-- The next secrets, in the order of their key, that are sealed under one of these keys ($5). Reads only; walks the index
-- once from end to end over all batches. Index: secrets_pkey.
SELECT account, owner, ref AS name, version::text AS version, sealed, kek_id
FROM delivery.secrets
WHERE (account, owner, ref, version) > ($1, $2, $3, $4::text::bigint) AND kek_id = ANY($5::text[])
ORDER BY account, owner, ref, secrets.version
LIMIT $6;
