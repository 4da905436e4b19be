-- Accepts a message: the key first, then the two rows of the message, all or nothing (design rules 3, 4).
--
-- Decides: whether `expires_at` lies ahead, the callback host is verified for the agent, and fewer of the agent's
-- messages are open than may be (§8.6; the account's limit beneath the deployment's, $30), by this statement's clock and
-- sight; whether the key is free, or free again because its time is over and its message no longer open. Where any of
-- that fails nothing but the charge is written. `inserted` false with all others true: the key or the message is there
-- already.
--
-- The depth is a count up to its limit, which costs as much as the rest where many are open. So what a count leaves room for
-- is remembered, and there is no other while it lasts ($32: the limit beneath which this submit has a place). `room` is what
-- a count finds. Submits at once may each see room for one. No row is written to count.
--
-- Locks: the key's row, if it exists; an insert of the same key that is under way is waited for.
-- Indexes: messages_waiting, the primary keys of idempotency, envelopes, messages.
depth_limit AS MATERIALIZED (
    SELECT least(nullif(budget.inbox_depth, 0), $30::bigint) AS waiting_max
    FROM budget
    WHERE budget.affordable AND $8 <> 'notify'
),

depth AS MATERIALIZED (
    SELECT
        depth_limit.waiting_max,
        CASE
            WHEN depth_limit.waiting_max IS DISTINCT FROM $32::bigint
                THEN (
                    SELECT count(*)
                    FROM (
                        SELECT 1
                        FROM lifecycle.messages AS message
                        WHERE
                            message.account = $1
                            AND message.agent = $3
                            AND message.status = 'open'
                            AND message.kind <> 'notify'
                        LIMIT (SELECT depth_limit.waiting_max FROM depth_limit)
                    ) AS counted
                )
        END AS waiting
    FROM depth_limit
    WHERE depth_limit.waiting_max IS NOT NULL
),

world AS MATERIALIZED (
    SELECT
        budget.affordable,
        budget.refuses_unaddressed,
        budget.refuses_addressed,
        budget.resets_in_ms,
        ($25::timestamptz IS NULL OR $25::timestamptz > statement_timestamp()) AS in_time,
        (
            $19::text IS NULL
            OR EXISTS (
                SELECT 1
                FROM delivery.callback_hosts_v1 AS host
                WHERE host.account = $1 AND host.agent = $3 AND host.host = $19 AND host.status = 'verified'
            )
        ) AS host_verified,
        depth.waiting_max,
        depth.waiting_max - depth.waiting AS room,
        coalesce(depth.waiting < depth.waiting_max, true) AS has_room
    FROM budget
    LEFT JOIN depth ON true
),

fit AS MATERIALIZED (
    SELECT 1
    FROM world
    WHERE world.affordable AND world.in_time AND world.host_verified AND world.has_room
),

key AS (
    INSERT INTO lifecycle.idempotency AS known (account, agent, key_hash, message_id, digest, expires_at)
    SELECT $1, $3, $27::bytea, $2, $28::bytea, statement_timestamp() + $29::bigint * interval '1 second'
    FROM fit
    WHERE $27::bytea IS NOT NULL
    ON CONFLICT (account, agent, key_hash) DO UPDATE
        SET
            message_id = excluded.message_id,
            digest = excluded.digest,
            expires_at = excluded.expires_at,
            postponed_until = NULL
        WHERE
            known.expires_at <= statement_timestamp()
            AND NOT EXISTS (
                SELECT 1
                FROM lifecycle.messages AS earlier
                WHERE
                    earlier.account = known.account
                    AND earlier.message_id = known.message_id
                    AND earlier.status = 'open'
                OFFSET 0
            )
    RETURNING message_id
),

envelope AS (
    INSERT INTO lifecycle.envelopes (
        account, message_id, agent, run_id, kind, mode, priority, sensitive, title, tags, project, ma2h_version,
        callback_url, callback_scheme, credential_ref, callback_host, expiry_actor, expiry_defaulted, expiry_detail,
        search_keys, envelope, sole_resolver
    )
    SELECT
        $1, $2, $3, $7, $8, $9, $10, $11, $12, $13::text[], $14, $15,
        $16, $17, $18, $19, $20, $21::boolean, $22,
        $23::bigint[], $24, $31::text
    FROM fit
    WHERE $27::bytea IS NULL OR EXISTS (SELECT 1 FROM key)
    ON CONFLICT DO NOTHING
    RETURNING message_id
),

message AS (
    INSERT INTO lifecycle.messages (account, message_id, agent, kind, status, accepted_at, expires_at, terminal_at)
    SELECT
        $1, envelope.message_id, $3, $8, $26, statement_timestamp(), $25::timestamptz,
        CASE WHEN $26 <> 'open' THEN statement_timestamp() END
    FROM envelope
    RETURNING message_id
)

SELECT
    world.affordable,
    world.refuses_unaddressed,
    world.refuses_addressed,
    world.resets_in_ms,
    world.in_time,
    world.host_verified,
    world.has_room,
    world.waiting_max,
    world.room,
    EXISTS (SELECT 1 FROM message) AS inserted
FROM world
