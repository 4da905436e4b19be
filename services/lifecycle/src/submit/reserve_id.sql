-- Takes a message's id for the length of a transaction that is always rolled back: a submit without a key that would be refused
-- thereby waits for the very same one, if that is under way.
--
-- Locks: the id, against other inserts of it. Index: the primary key of messages.
INSERT INTO lifecycle.messages (account, message_id, agent, kind, status, accepted_at)
VALUES ($1, $2, $3, 'task', 'open', statement_timestamp())
ON CONFLICT (account, message_id) DO NOTHING
