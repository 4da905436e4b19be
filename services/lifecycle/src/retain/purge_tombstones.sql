-- Drops a chunk of tombstones that have stood for $2 seconds, whichever was set first: from then on the message is as unknown
-- as one that never was. Looks $3 milliseconds back.
--
-- What is held is found again by where it is, which is settled meanwhile.
--
-- Locks: the tombstones; those that others hold are passed over. Index: tombstones_oldest.
WITH over AS MATERIALIZED (
    SELECT tombstone.ctid AS place
    FROM lifecycle.tombstones AS tombstone
    WHERE
        tombstone.erased_at <= statement_timestamp() - $2::bigint * interval '1 second'
        AND tombstone.erased_at
        > statement_timestamp() - $2::bigint * interval '1 second' - $3::bigint * interval '1 millisecond'
    ORDER BY tombstone.erased_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
),

purged AS (
    DELETE FROM lifecycle.tombstones AS tombstone
    USING over
    WHERE tombstone.ctid = over.place
)

SELECT count(*) AS taken
FROM over
