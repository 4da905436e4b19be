-- Puts a directive into its addressee's mailbox: the key first, then its two rows, all or nothing (design rules 3, 4); and
-- owes a push of it where the addressee has a webhook (§8.7).
--
-- Decides: whether the addressee is an agent of the account, `expires_at` lies ahead and the mailbox has room (the account's
-- limit beneath the deployment's, $13), by this statement's clock and sight; whether the key is free, or its time over. Room
-- is taken by what a drain may yet be given of the lane that directives lie in: neither by what can only be acknowledged any
-- more, nor by what lay there when the mailbox was closed. Where any of that fails nothing is written. `directive` null with
-- all others true: the key or the directive is there already. The envelope gets this statement's time between its two parts.
-- Without an `expires_at` it is dropped when its retention of $8 seconds ends.
--
-- What a count leaves room for is remembered, and there is no other while it lasts ($16: the limit beneath which this directive
-- has a place). `room` is what a count finds.
--
-- Locks: the key's row, if it exists; an insert of the same key that is under way is waited for. Indexes: entries_waiting, the
-- primary keys of directory.agents, directory.accounts, closed_mailboxes, human_keys, directives, entries, pushes,
-- delivery.webhooks, delivery.callback_hosts.
WITH depth AS MATERIALIZED (
    SELECT least(nullif(known.inbox_depth, 0), $13::bigint) AS entries_max
    FROM (VALUES ($1)) AS asked (account)
    LEFT JOIN directory.accounts_v1 AS known ON asked.account = known.account
),

closed AS MATERIALIZED (
    SELECT
        coalesce(
            (
                SELECT mailbox.closed_at
                FROM lifecycle.closed_mailboxes AS mailbox
                WHERE mailbox.account = $1 AND mailbox.agent = $3
            ),
            '-infinity'
        ) AS closed_at
),

counted AS MATERIALIZED (
    SELECT count(*) AS entries
    FROM (
        SELECT 1
        FROM lifecycle.entries AS entry
        WHERE
            entry.account = $1
            AND entry.agent = $3
            AND entry.lane = 'everyone'
            AND entry.ended_at IS NULL
            AND entry.visible_at > (SELECT closed.closed_at FROM closed)
            -- Written as a value it would let PostgreSQL take entries_dropping.
            AND entry.visible_at < (SELECT 'infinity'::timestamptz)
            AND entry.enqueued_at > (SELECT closed.closed_at FROM closed)
        LIMIT (SELECT depth.entries_max FROM depth)
    ) AS lying
),

room AS MATERIALIZED (
    SELECT
        depth.entries_max,
        CASE
            WHEN depth.entries_max <> coalesce($16::bigint, -1)
                THEN depth.entries_max - (SELECT counted.entries FROM counted)
        END AS places
    FROM depth
),

world AS MATERIALIZED (
    SELECT
        EXISTS (
            SELECT 1
            FROM directory.agents_v1 AS agent
            WHERE agent.account = $1 AND agent.agent = $3
        ) AS destination_known,
        $7::timestamptz IS NULL OR $7::timestamptz > statement_timestamp() AS in_time,
        room.entries_max,
        room.places AS room,
        coalesce(room.places > 0, true) AS has_room
    FROM room
),

fit AS MATERIALIZED (
    SELECT 1
    FROM world
    WHERE world.destination_known AND world.in_time AND world.has_room
),

key AS (
    INSERT INTO lifecycle.human_keys AS known (account, human, key_hash, digest, made_id, expires_at)
    SELECT $1, $9, $10::bytea, $11::bytea, $2, statement_timestamp() + $12::bigint * interval '1 second'
    FROM fit
    WHERE $10::bytea IS NOT NULL
    ON CONFLICT (account, human, key_hash) DO UPDATE
        SET digest = excluded.digest, made_id = excluded.made_id, expires_at = excluded.expires_at
        WHERE known.expires_at <= statement_timestamp()
    RETURNING made_id
),

directive AS (
    INSERT INTO lifecycle.directives (account, directive_id, agent, author, directive)
    SELECT
        $1, $2, $3, $4,
        $5 || to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || $6
    FROM fit
    WHERE $10::bytea IS NULL OR EXISTS (SELECT 1 FROM key)
    ON CONFLICT DO NOTHING
    RETURNING directive_id, directive
),

entry AS (
    INSERT INTO lifecycle.entries (
        account, entry_id, agent, kind, lane, state, enqueued_at, visible_at, drops_at, kept_until, deliveries, content_bytes
    )
    SELECT
        $1, directive.directive_id, $3, 'directive', 'everyone', 'queued', statement_timestamp(), statement_timestamp(),
        coalesce($7::timestamptz, times.retained_until), greatest($7::timestamptz, times.retained_until),
        0, octet_length(directive.directive)
    FROM directive
    CROSS JOIN LATERAL (
        SELECT statement_timestamp() + $8::bigint * interval '1 second' AS retained_until
    ) AS times
),

owed AS (
    INSERT INTO lifecycle.pushes (
        account, message_id, kind, host, state, generation, attempts, attempt_at, due_at, traceparent
    )
    SELECT
        $1, directive.directive_id, 'directive', webhook.host, 'due', 1, 0, statement_timestamp(),
        statement_timestamp() + $14::bigint * interval '1 millisecond', $15
    FROM directive
    INNER JOIN delivery.webhooks_v1 AS webhook ON webhook.account = $1 AND webhook.agent = $3
    RETURNING message_id
)

SELECT
    world.destination_known,
    world.in_time,
    world.entries_max,
    world.room,
    world.has_room,
    directive.directive,
    EXISTS (SELECT 1 FROM owed) AS push_owed
FROM world
LEFT JOIN directive ON true
