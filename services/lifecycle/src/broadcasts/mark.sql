-- Writes down what a chunk of a broadcast came to, agent by agent, and when its job is published again if nothing is heard of
-- it for $7 milliseconds; or, where it was the last ($6), until when the broadcast is kept: a directive ends when its
-- `expires_at` or $8 seconds are over, and goes as long after its end.
--
-- Sent unprepared, so that it is planned for as many as there are.
--
-- Locks: the broadcast, which take.sql holds, and its agents. Indexes: the primary keys of broadcasts, broadcast_recipients.
WITH turned AS (
    UPDATE lifecycle.broadcast_recipients AS recipient
    SET state = outcome.state, reason = outcome.reason
    FROM unnest($3::text[], $4::text[], $5::text[]) AS outcome (agent, state, reason)
    WHERE
        recipient.account = $1
        AND recipient.broadcast_id = $2
        AND recipient.agent = outcome.agent
        AND recipient.state = (SELECT 'pending'::text)
)

UPDATE lifecycle.broadcasts AS broadcast
SET
    due_at = CASE WHEN NOT $6::boolean THEN statement_timestamp() + $7::bigint * interval '1 millisecond' END,
    fanned_out_at = CASE WHEN $6::boolean THEN statement_timestamp() END,
    kept_until = CASE
        WHEN $6::boolean
            THEN
                greatest(broadcast.expires_at, statement_timestamp() + $8::bigint * interval '1 second')
                + $8::bigint * interval '1 second'
    END
WHERE broadcast.account = $1 AND broadcast.broadcast_id = $2
