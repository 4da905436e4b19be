-- Releases held pushes whose host is sent to again: all of them, at most $1 of a host at a time; a few ($5), where the
-- host had no room for some in the last $4 milliseconds; or the one that was held longest, where somebody may look whether the
-- host is back. The time they were held counts toward no cap.
--
-- Walks from host to host over what is held, at most $3 of them, so that what stays held is not gone through. `due_at` lies
-- $2 milliseconds ahead: the jobs are published now, and by the relay only if they are lost.
--
-- What is held is found again by where it is, which is settled meanwhile: planned while nothing seems held, this would go through
-- all pushes otherwise.
--
-- Locks: the pushes; those that others hold are passed over.
-- Indexes: pushes_held; the primary key of delivery.host_health.
WITH RECURSIVE held AS (
    (
        SELECT push.account, push.host
        FROM lifecycle.pushes AS push
        WHERE push.state = 'held'
        ORDER BY push.account, push.host
        LIMIT 1
    )
    UNION ALL
    SELECT following.account, following.host
    FROM held
    CROSS JOIN LATERAL (
        SELECT push.account, push.host
        FROM lifecycle.pushes AS push
        WHERE push.state = 'held' AND (push.account, push.host) > (held.account, held.host)
        ORDER BY push.account, push.host
        LIMIT 1
    ) AS following
),

free AS (
    SELECT
        held.account,
        held.host,
        CASE
            WHEN hold.probe_at IS NOT NULL THEN 1
            WHEN latest.held_at > statement_timestamp() - $4::bigint * interval '1 millisecond' THEN $5::bigint
            ELSE $1::bigint
        END AS pushes_max
    FROM (SELECT held.account, held.host FROM held LIMIT $3::bigint) AS held
    LEFT JOIN delivery.host_holds_v1 AS hold ON held.account = hold.account AND held.host = hold.host
    CROSS JOIN LATERAL (
        SELECT push.held_at
        FROM lifecycle.pushes AS push
        WHERE push.state = 'held' AND push.account = held.account AND push.host = held.host
        ORDER BY push.held_at DESC
        LIMIT 1
    ) AS latest
    WHERE hold.probe_at IS NULL OR hold.probe_at <= statement_timestamp()
),

chosen AS (
    SELECT longest.place
    FROM free
    CROSS JOIN LATERAL (
        SELECT push.ctid AS place
        FROM lifecycle.pushes AS push
        WHERE push.state = 'held' AND push.account = free.account AND push.host = free.host
        ORDER BY push.held_at
        LIMIT free.pushes_max
        FOR UPDATE SKIP LOCKED
    ) AS longest
)

UPDATE lifecycle.pushes AS push
SET
    state = 'due',
    started_at = push.started_at + (statement_timestamp() - push.held_at),
    held_at = NULL,
    attempt_at = statement_timestamp(),
    due_at = statement_timestamp() + $2::bigint * interval '1 millisecond'
FROM chosen
WHERE push.ctid = chosen.place
RETURNING push.account, push.message_id
