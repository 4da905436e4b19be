-- How many broadcasts have agents to reach, counted up to $1.
--
-- Locks: none. Index: broadcasts_owed.
SELECT count(*) AS owed
FROM (
    SELECT 1
    FROM lifecycle.broadcasts AS broadcast
    WHERE broadcast.due_at IS NOT NULL
    LIMIT $1
) AS owed
