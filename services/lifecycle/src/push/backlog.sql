-- Counts the pushes that are due, up to $1, and among them those that nobody has settled within their time; and, up to $1,
-- those that are held because nothing is sent to their host. Looks $2 milliseconds back.
--
-- Locks: none. Indexes: pushes_due, pushes_held.
SELECT
    count(*) AS owed,
    count(*) FILTER (WHERE due.due_at <= statement_timestamp()) AS late,
    (
        SELECT count(*)
        FROM (SELECT 1 FROM lifecycle.pushes AS push WHERE push.state = 'held' LIMIT $1) AS held
    ) AS held
FROM (
    SELECT push.due_at
    FROM lifecycle.pushes AS push
    WHERE push.state = 'due' AND push.due_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
    ORDER BY push.due_at
    LIMIT $1
) AS due
