-- The next chunk of a broadcast that take.sql holds: agents whose turn is to come, by id, at most $4; $5 are passed over.
-- `is_there` false: the agent that it was for, which was there when it was taken at $3, has gone; one of its id may have come
-- since.
--
-- Locks: none. Indexes: broadcast_recipients_pending, the primary keys of directory.agents, directory.accounts.
SELECT
    recipient.agent,
    recipient.directive_id,
    EXISTS (
        SELECT 1
        FROM directory.agents_v1 AS known
        WHERE
            known.account = recipient.account
            AND known.agent = recipient.agent
            AND known.created_at <= $3
        OFFSET 0
    ) AS is_there
FROM lifecycle.broadcast_recipients AS recipient
WHERE recipient.account = $1 AND recipient.broadcast_id = $2 AND recipient.state = 'pending'
ORDER BY recipient.agent
LIMIT $4
OFFSET $5
