-- Finds what a key stands for that a human used before. `directive_id` null: what it made is gone.
--
-- Locks: none. Indexes: the primary keys of human_keys, directives.
SELECT known.digest, directive.directive_id
FROM lifecycle.human_keys AS known
LEFT JOIN lifecycle.directives AS directive
    ON known.account = directive.account AND known.made_id = directive.directive_id
WHERE
    known.account = $1
    AND known.human = $2
    AND known.key_hash = $3
    AND known.expires_at > statement_timestamp()
