-- The key that signs now, and for how long it is known to be that: until the next one's time comes. Reads only; a handful
-- of rows, no index.
SELECT
    kid,
    sealed,
    kek_id,
    (
        SELECT ceil(extract(EPOCH FROM min(coming.signs_from) - statement_timestamp()) * 1000)::bigint
        FROM delivery.signing_keys AS coming
        WHERE coming.signs_from > statement_timestamp()
    ) AS signs_for_ms
FROM delivery.signing_keys
WHERE signs_from <= statement_timestamp()
ORDER BY signs_from DESC, kid
LIMIT 1;
