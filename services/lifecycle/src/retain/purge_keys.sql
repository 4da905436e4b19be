-- Drops a chunk of idempotency keys whose time is over, whichever ended first. A key whose message is open stays (§8.1),
-- and is looked at again $2 milliseconds later. Looks $3 milliseconds back.
--
-- The keys are found again by where they are, which is settled while they are held: a plan made while the table seems
-- empty would otherwise go through all that an old snapshot keeps of it.
--
-- Locks: the keys; those that others hold are passed over. Indexes: idempotency_over, the primary key of messages.
WITH over AS MATERIALIZED (
    SELECT
        key.ctid AS place,
        EXISTS (
            SELECT 1
            FROM lifecycle.messages AS message
            WHERE
                message.account = key.account
                AND message.message_id = key.message_id
                AND message.status = 'open'
            OFFSET 0
        ) AS is_open
    FROM lifecycle.idempotency AS key
    WHERE
        coalesce(key.postponed_until, key.expires_at) <= statement_timestamp()
        AND coalesce(key.postponed_until, key.expires_at)
        > statement_timestamp() - $3::bigint * interval '1 millisecond'
    ORDER BY coalesce(key.postponed_until, key.expires_at)
    LIMIT $1
    FOR UPDATE OF key SKIP LOCKED
),

postponed AS (
    UPDATE lifecycle.idempotency AS key
    SET postponed_until = statement_timestamp() + $2::bigint * interval '1 millisecond'
    FROM over
    WHERE over.is_open AND key.ctid = over.place
),

purged AS (
    DELETE FROM lifecycle.idempotency AS key
    USING over
    WHERE NOT over.is_open AND key.ctid = over.place
    RETURNING key.key_hash
)

SELECT (SELECT count(*) FROM over) AS taken, (SELECT count(*) FROM purged) AS purged
