-- Drops at most so many ($1) tokens that expired more than $2 seconds ago, those that expired first; what others hold is left
-- for the next time. The browser sessions opened with them go by their foreign key. A row back for each.
-- Locks those rows, then the sessions. Served by tokens_expired, tokens_pkey, browser_sessions_by_token.
WITH over AS MATERIALIZED (
    SELECT tokens.account, tokens.token
    FROM directory.tokens
    WHERE tokens.expires_at <= statement_timestamp() - $2::bigint * interval '1 second'
    ORDER BY tokens.expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
DELETE FROM directory.tokens
USING over
WHERE tokens.account = over.account
    AND tokens.token = over.token
RETURNING tokens.token
