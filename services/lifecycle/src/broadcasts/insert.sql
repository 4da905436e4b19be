-- Takes a broadcast, with the agents it is for: the key first, then its rows, all or nothing (design rules 3, 4).
--
-- Decides, by this statement's clock and sight: whether `expires_at` lies ahead, and fewer than $15 of the account's broadcasts
-- are under way; whether the key is free, or its time over. Where any of that fails nothing is written. `inserted` false
-- with all others true: the key or the broadcast is there already. Its job is published at once, and again if nothing was
-- heard of it for $14 milliseconds.
--
-- Those under way are counted up to the limit: calls at once may each see room for one.
--
-- Sent unprepared, so that it is planned for as many agents as there are.
--
-- Locks: the key's row, if it exists; an insert of the same key that is under way is waited for.
-- Indexes: broadcasts_under_way, the primary keys of human_keys, broadcasts, broadcast_recipients.
WITH world AS MATERIALIZED (
    SELECT
        $7::timestamptz IS NULL OR $7::timestamptz > statement_timestamp() AS in_time,
        NOT EXISTS (
            SELECT 1
            FROM lifecycle.broadcasts AS broadcast
            WHERE broadcast.account = $1 AND broadcast.fanned_out_at IS NULL
            OFFSET $15::bigint - 1
            LIMIT 1
        ) AS has_room
),

fit AS MATERIALIZED (
    SELECT 1
    FROM world
    WHERE world.in_time AND world.has_room
),

key AS (
    INSERT INTO lifecycle.human_keys AS known (account, human, key_hash, digest, made_id, expires_at)
    SELECT $1, $10, $11::bytea, $12::bytea, $2, statement_timestamp() + $13::bigint * interval '1 second'
    FROM fit
    WHERE $11::bytea IS NOT NULL
    ON CONFLICT (account, human, key_hash) DO UPDATE
        SET digest = excluded.digest, made_id = excluded.made_id, expires_at = excluded.expires_at
        WHERE known.expires_at <= statement_timestamp()
    RETURNING made_id
),

broadcast AS (
    INSERT INTO lifecycle.broadcasts (
        account, broadcast_id, author, content, title, labels, recipients, accepted_at, expires_at, due_at
    )
    SELECT
        $1, $2, $3, $4, $5, $6, cardinality($8::text[]), statement_timestamp(), $7,
        statement_timestamp() + $14::bigint * interval '1 millisecond'
    FROM fit
    WHERE $11::bytea IS NULL OR EXISTS (SELECT 1 FROM key)
    ON CONFLICT DO NOTHING
    RETURNING account, broadcast_id
),

recipient AS (
    INSERT INTO lifecycle.broadcast_recipients (account, broadcast_id, agent, directive_id, state)
    SELECT broadcast.account, broadcast.broadcast_id, asked.agent, asked.directive_id, 'pending'
    FROM broadcast
    CROSS JOIN unnest($8::text[], $9::text[]) AS asked (agent, directive_id)
)

SELECT world.in_time, world.has_room, EXISTS (SELECT 1 FROM broadcast) AS inserted
FROM world
