-- Takes a key for the length of a transaction that is always rolled back: a submit that would be refused thereby waits
-- for one under way with the same key, whose answer is then its own.
--
-- Locks: the key, against other inserts of it. Index: the primary key of idempotency.
INSERT INTO lifecycle.idempotency (account, agent, key_hash, message_id, digest, expires_at)
VALUES ($1, $2, $3, $4, $5, statement_timestamp())
ON CONFLICT (account, agent, key_hash) DO NOTHING
