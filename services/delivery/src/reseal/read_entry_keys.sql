-- The next entry keys, in the order of their key, that are sealed under one of these keys ($5). Reads only; walks the index
-- once from end to end over all batches. Index: entry_keys_pkey.
SELECT account, 'agent:' || agent AS owner, 'entry-key' AS name, version, sealed, kek_id
FROM delivery.entry_keys
WHERE
    (account, agent) > ($1, substr($2, length('agent:') + 1))
    AND kek_id = ANY($5::text[])
    AND $3::text IS NOT NULL AND $4::text IS NOT NULL
ORDER BY account, agent
LIMIT $6;
