-- Takes a directive's id for the length of a transaction that is always rolled back: a call without a key that would be refused
-- thereby waits for the very same one, if that is under way.
--
-- Locks: the id, against other inserts of it. Index: the primary key of directives.
INSERT INTO lifecycle.directives (account, directive_id, agent, author, directive)
VALUES ($1, $2, '', '', '')
ON CONFLICT (account, directive_id) DO NOTHING
