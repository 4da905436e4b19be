-- How many values are sealed under another key than this one, by that key. Reads only; scans the three tables.
SELECT kept.kek_id, count(*) AS sealed
FROM (
    SELECT kek_id FROM delivery.secrets
    UNION ALL
    SELECT kek_id FROM delivery.entry_keys
    UNION ALL
    SELECT kek_id FROM delivery.signing_keys
) AS kept
WHERE kept.kek_id <> $1
GROUP BY kept.kek_id
ORDER BY kept.kek_id;
