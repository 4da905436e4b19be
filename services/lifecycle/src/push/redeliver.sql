-- Puts pushes back on the queue: due now, as a new generation with a fresh budget of attempts (§8.3, design rule 5).
--
-- Decides: the push was given up; or, where one is asked for by its message ($4), it is in whichever state but expired,
-- also under a claim, whose outcome then matches nothing: until when its attempt may be under way is kept, for an
-- acknowledgement that the attempt's receiver makes. The same call ($3) made before, less than $7 seconds ago, its reply
-- lost, changes nothing and is told the same.
--
-- Locks: the pushes, by account and id. Index: the primary key of pushes.
WITH asked AS (
    SELECT DISTINCT asked.message_id
    FROM unnest($2::text[]) AS asked (message_id)
),

held AS MATERIALIZED (
    SELECT push.message_id, repeated.is_so AS is_repeated
    FROM lifecycle.pushes AS push
    INNER JOIN asked ON push.account = $1 AND push.message_id = asked.message_id
    CROSS JOIN LATERAL (
        SELECT
            coalesce(
                push.redelivery_id = $3
                AND coalesce(push.redelivered_at, 'infinity') > statement_timestamp() - $7::bigint * interval '1 second',
                false
            ) AS is_so
    ) AS repeated
    WHERE
        repeated.is_so
        OR push.state = 'exhausted'
        OR ($4::boolean AND push.state <> 'expired')
    ORDER BY push.message_id
    FOR UPDATE OF push
),

renewed AS (
    UPDATE lifecycle.pushes AS push
    SET
        state = 'due',
        generation = push.generation + 1,
        attempts = 0,
        probes = 0,
        deferrals = 0,
        held_at = NULL,
        started_at = NULL,
        attempt_at = statement_timestamp(),
        due_at = statement_timestamp() + $5::bigint * interval '1 millisecond',
        claim_id = NULL,
        claim_until = NULL,
        replaced_until = greatest(push.claim_until, push.replaced_until),
        redelivery_id = $3,
        redelivered_at = statement_timestamp(),
        traceparent = $6
    FROM held
    WHERE push.account = $1 AND push.message_id = held.message_id AND NOT held.is_repeated
)

SELECT held.message_id, held.is_repeated
FROM held
