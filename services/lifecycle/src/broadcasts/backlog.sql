-- How many broadcasts have agents to reach, counted up to $1. Looks $2 milliseconds back.
--
-- Locks: none. Index: broadcasts_owed.
SELECT count(*) AS owed
FROM (
    SELECT 1
    FROM lifecycle.broadcasts AS broadcast
    WHERE broadcast.due_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
    LIMIT $1
) AS owed
