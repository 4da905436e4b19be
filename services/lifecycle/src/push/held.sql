-- Counts the pushes that are held because nothing is sent to their host, up to $1.
--
-- Locks: none. Index: pushes_held.
SELECT count(*) AS held
FROM (
    SELECT 1
    FROM lifecycle.pushes AS push
    WHERE push.state = 'held'
    LIMIT $1
) AS held
