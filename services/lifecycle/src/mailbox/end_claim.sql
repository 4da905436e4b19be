-- Ends a claim: from now on it takes nothing, however late a statement of it may come; one that is under way is waited for.
-- What it holds is taken back by the statement that follows.
--
-- Locks: the claim. Index: the primary key of claims.
INSERT INTO lifecycle.claims (account, claim_id, known_at)
VALUES ($1, $2, statement_timestamp())
ON CONFLICT DO NOTHING
