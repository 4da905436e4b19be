-- Takes a few of those that are due to be forgotten, whichever was first. Each is due again in a minute: who takes it may die.
-- Locks: the rows; those that others hold are passed over. Served by leaving_due, leaving_pkey.
WITH due AS (
    SELECT account, agent
    FROM directory.leaving
    WHERE due_at <= statement_timestamp()
    ORDER BY due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE directory.leaving
SET due_at = statement_timestamp() + interval '1 minute'
FROM due
WHERE leaving.account = due.account
    AND leaving.agent = due.agent
RETURNING leaving.account, leaving.agent, leaving.due_at
