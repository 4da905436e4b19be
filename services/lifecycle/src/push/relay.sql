-- Takes a chunk of pushes whose job shall be published: retries whose pause is over, claims that lapsed, jobs that were
-- lost. Moves their `due_at` on, so that each is published once per that time (design rule 5). Looks $3 milliseconds back.
--
-- Locks: the pushes; those that others hold are passed over, so that replicas share the work and none waits.
-- Index: pushes_due.
WITH lost AS (
    SELECT push.account, push.message_id
    FROM lifecycle.pushes AS push
    WHERE
        push.state = 'due'
        AND push.due_at <= statement_timestamp()
        AND push.due_at > statement_timestamp() - $3::bigint * interval '1 millisecond'
    ORDER BY push.due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

UPDATE lifecycle.pushes AS push
SET due_at = statement_timestamp() + $2::bigint * interval '1 millisecond'
FROM lost
WHERE push.account = lost.account AND push.message_id = lost.message_id
RETURNING push.account, push.message_id
