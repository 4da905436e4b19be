-- Takes a human's key for the length of a transaction that is always rolled back: a call that would be refused thereby waits for
-- one under way with the same key, whose answer is then its own.
--
-- Locks: the key, against other inserts of it. Index: the primary key of human_keys.
INSERT INTO lifecycle.human_keys (account, human, key_hash, digest, made_id, expires_at)
VALUES ($1, $2, $3, $4, $5, statement_timestamp())
ON CONFLICT (account, human, key_hash) DO NOTHING
