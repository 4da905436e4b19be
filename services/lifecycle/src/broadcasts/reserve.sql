-- Takes a broadcast's id for the length of a transaction that is always rolled back: a call without a key that would be refused
-- thereby waits for the very same one, if that is under way.
--
-- Locks: the id, against other inserts of it. Index: the primary key of broadcasts.
INSERT INTO lifecycle.broadcasts (account, broadcast_id, author, content, title, recipients, accepted_at, due_at)
VALUES ($1, $2, '', '', '', 1, statement_timestamp(), statement_timestamp())
ON CONFLICT (account, broadcast_id) DO NOTHING
