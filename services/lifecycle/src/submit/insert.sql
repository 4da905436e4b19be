-- Accepts a message: the key first, then the two rows of the message, all or nothing (design rules 3, 4).
--
-- Decides: whether `expires_at` lies ahead and the callback host is verified for the agent, by this statement's clock
-- and sight; whether the key is free, or free again because its time is over and its message no longer open. Where any
-- of that fails nothing is written. `inserted` false with both others true: the key or the message is there already.
--
-- Locks: the key's row, if it exists; an insert of the same key that is under way is waited for.
-- Indexes: the primary keys of idempotency, envelopes, messages.
WITH world AS MATERIALIZED (
    SELECT
        ($22::timestamptz IS NULL OR $22::timestamptz > statement_timestamp()) AS in_time,
        (
            $16::text IS NULL
            OR EXISTS (
                SELECT 1
                FROM delivery.callback_hosts_v1 AS host
                WHERE host.account = $1 AND host.agent = $3 AND host.host = $16 AND host.status = 'verified'
            )
        ) AS host_verified
),

key AS (
    INSERT INTO lifecycle.idempotency AS known (account, agent, key_hash, message_id, digest, expires_at)
    SELECT $1, $3, $24::bytea, $2, $25::bytea, statement_timestamp() + $26::bigint * interval '1 second'
    FROM world
    WHERE world.in_time AND world.host_verified AND $24::bytea IS NOT NULL
    ON CONFLICT (account, agent, key_hash) DO UPDATE
        SET message_id = excluded.message_id, digest = excluded.digest, expires_at = excluded.expires_at
        WHERE
            known.expires_at <= statement_timestamp()
            AND EXISTS (
                SELECT 1
                FROM lifecycle.messages AS earlier
                WHERE
                    earlier.account = known.account
                    AND earlier.message_id = known.message_id
                    AND earlier.status <> 'open'
            )
    RETURNING message_id
),

envelope AS (
    INSERT INTO lifecycle.envelopes (
        account, message_id, agent, run_id, kind, mode, priority, sensitive, title, tags, project, ma2h_version,
        callback_url, callback_scheme, credential_ref, expiry_actor, expiry_defaulted, expiry_detail, search_keys,
        envelope
    )
    SELECT
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12,
        $13, $14, $15, $17, $18::boolean, $19, $20::bigint[],
        $21
    FROM world
    WHERE world.in_time AND world.host_verified AND ($24::bytea IS NULL OR EXISTS (SELECT 1 FROM key))
    ON CONFLICT DO NOTHING
    RETURNING message_id
),

message AS (
    INSERT INTO lifecycle.messages (account, message_id, agent, kind, status, accepted_at, expires_at, terminal_at)
    SELECT
        $1, envelope.message_id, $3, $5, $23, statement_timestamp(), $22::timestamptz,
        CASE WHEN $23 <> 'open' THEN statement_timestamp() END
    FROM envelope
    RETURNING message_id
)

SELECT world.in_time, world.host_verified, EXISTS (SELECT 1 FROM message) AS inserted
FROM world
