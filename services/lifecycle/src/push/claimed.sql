-- Tells of the pushes under a claim what the decision needs about what comes next: since when they have been attempted,
-- which attempts count toward no cap, and how often they were put back. The settlement holds the claim against these rows
-- again.
--
-- Locks: none. Index: the primary key of pushes.
SELECT
    push.account,
    push.message_id,
    push.probes,
    push.deferrals,
    (extract(EPOCH FROM statement_timestamp() - push.started_at) * 1000)::bigint AS elapsed_ms
FROM unnest($2::text[], $3::text[]) AS asked (account, message_id)
CROSS JOIN LATERAL (
    SELECT *
    FROM lifecycle.pushes AS push
    WHERE
        push.account = asked.account
        AND push.message_id = asked.message_id
        AND push.state = (SELECT 'due'::text)
        AND push.claim_id = $1
    OFFSET 0
) AS push
