-- Stamps the response track as delivered to the agent, the first time only (§14.2). The caller is about to give the
-- submitter its Response.
--
-- Locks: the message. Index: the primary key of messages; the row is rewritten without touching an index.
UPDATE lifecycle.messages
SET delivery_state = 'delivered-to-agent', delivered_at = statement_timestamp()
WHERE
    account = $1
    AND message_id = $2
    AND agent = $3
    AND resolution_id IS NOT NULL
    AND delivery_state IS NULL
RETURNING delivery_state, delivered_at
