-- Lists pushes of an account that were given up, of one host or of all, after the id in $3.
--
-- Locks: none. Index: pushes_exhausted.
SELECT push.message_id
FROM lifecycle.pushes AS push
WHERE
    push.account = $1
    AND push.state = 'exhausted'
    AND ($2::text IS NULL OR push.host = $2)
    AND push.message_id > $3
ORDER BY push.message_id
LIMIT $4
