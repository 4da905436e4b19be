-- Releases pushes that are held for a host where they would not go any more: their webhook has another host by now, or is
-- gone; at most $1 of a webhook at a time. Their next claim says what becomes of them. The time they were held counts toward
-- no cap.
--
-- Walks from webhook to webhook over what is held, at most $3 of them. `due_at` lies $2 milliseconds ahead: the jobs are
-- published now, and by the relay only if they are lost.
--
-- What is held is found again by where it is, which is settled meanwhile: planned while nothing seems held, this would go through
-- all pushes otherwise.
--
-- Locks: the pushes; those that others hold are passed over.
-- Indexes: pushes_held_for_webhooks; the primary keys of delivery.webhooks, delivery.callback_hosts.
WITH RECURSIVE held AS (
    (
        SELECT push.account, push.webhook, push.host
        FROM lifecycle.pushes AS push
        WHERE push.state = 'held' AND push.webhook IS NOT NULL
        ORDER BY push.account, push.webhook, push.host
        LIMIT 1
    )
    UNION ALL
    SELECT following.account, following.webhook, following.host
    FROM held
    CROSS JOIN LATERAL (
        SELECT push.account, push.webhook, push.host
        FROM lifecycle.pushes AS push
        WHERE
            push.state = 'held'
            AND push.webhook IS NOT NULL
            AND (push.account, push.webhook, push.host) > (held.account, held.webhook, held.host)
        ORDER BY push.account, push.webhook, push.host
        LIMIT 1
    ) AS following
),

moved AS (
    SELECT held.account, held.webhook, held.host
    FROM (SELECT held.account, held.webhook, held.host FROM held LIMIT $3::bigint) AS held
    LEFT JOIN delivery.webhooks_v1 AS webhook ON held.account = webhook.account AND held.webhook = webhook.agent
    WHERE webhook.host IS DISTINCT FROM held.host
),

chosen AS (
    SELECT lying.place
    FROM moved
    CROSS JOIN LATERAL (
        SELECT push.ctid AS place
        FROM lifecycle.pushes AS push
        WHERE
            push.state = 'held'
            AND push.account = moved.account
            AND push.webhook = moved.webhook
            AND push.host = moved.host
        LIMIT $1::bigint
        FOR UPDATE SKIP LOCKED
    ) AS lying
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
