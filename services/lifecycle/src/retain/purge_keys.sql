-- Drops a chunk of idempotency keys whose time is over, whichever ended first. A key whose message is open stays (§8.1),
-- and is looked at again $2 milliseconds later.
--
-- Locks: the keys; those that others hold are passed over. Indexes: idempotency_over, the primary keys of idempotency
-- and messages.
WITH over AS MATERIALIZED (
    SELECT
        key.account,
        key.agent,
        key.key_hash,
        EXISTS (
            SELECT 1
            FROM lifecycle.messages AS message
            WHERE
                message.account = key.account
                AND message.message_id = key.message_id
                AND message.status = 'open'
        ) AS is_open
    FROM lifecycle.idempotency AS key
    WHERE coalesce(key.postponed_until, key.expires_at) <= statement_timestamp()
    ORDER BY coalesce(key.postponed_until, key.expires_at)
    LIMIT $1
    FOR UPDATE OF key SKIP LOCKED
),

postponed AS (
    UPDATE lifecycle.idempotency AS key
    SET postponed_until = statement_timestamp() + $2::bigint * interval '1 millisecond'
    FROM over
    WHERE
        over.is_open
        AND key.account = over.account
        AND key.agent = over.agent
        AND key.key_hash = over.key_hash
),

purged AS (
    DELETE FROM lifecycle.idempotency AS key
    USING over
    WHERE
        NOT over.is_open
        AND key.account = over.account
        AND key.agent = over.agent
        AND key.key_hash = over.key_hash
    RETURNING key.key_hash
)

SELECT (SELECT count(*) FROM over) AS taken, (SELECT count(*) FROM purged) AS purged
