-- Finds what a key stands for that a human used before: a directive or a broadcast. `made_id` null: what it made is gone.
--
-- Locks: none. Indexes: the primary keys of human_keys, directives, broadcasts.
SELECT known.digest, coalesce(directive.directive_id, broadcast.broadcast_id) AS made_id
FROM lifecycle.human_keys AS known
LEFT JOIN lifecycle.directives AS directive
    ON known.account = directive.account AND known.made_id = directive.directive_id
LEFT JOIN lifecycle.broadcasts AS broadcast
    ON
        known.account = broadcast.account
        AND known.made_id = broadcast.broadcast_id
        AND coalesce(broadcast.kept_until, 'infinity') > statement_timestamp()
WHERE
    known.account = $1
    AND known.human = $2
    AND known.key_hash = $3
    AND known.expires_at > statement_timestamp()
