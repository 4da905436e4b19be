-- Tells since when the pushes under a claim have been attempted, for the decision what comes next. The settlement holds
-- the claim against these rows again.
--
-- Locks: none. Index: the primary key of pushes.
SELECT
    push.account,
    push.message_id,
    (extract(EPOCH FROM statement_timestamp() - push.started_at) * 1000)::bigint AS elapsed_ms
FROM lifecycle.pushes AS push
INNER JOIN unnest($2::text[], $3::text[]) AS asked (account, message_id)
    ON push.account = asked.account AND push.message_id = asked.message_id
WHERE push.state = 'due' AND push.claim_id = $1
