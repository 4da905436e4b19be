-- Counts the pushes that are due, up to $1, and among them those that nobody has settled within their time. Looks $2
-- milliseconds back.
--
-- Locks: none. Index: pushes_due.
SELECT
    count(*) AS owed,
    count(*) FILTER (WHERE due.due_at <= statement_timestamp()) AS late
FROM (
    SELECT push.due_at
    FROM lifecycle.pushes AS push
    WHERE push.state = 'due' AND push.due_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
    ORDER BY push.due_at
    LIMIT $1
) AS due
