-- Opens a browser session on the token that its human signed in with, and drops hers that have run out. No row back: the
-- token has ended meanwhile. The session ends no later than its token.
-- Locks: the token (shared), then her sessions that have run out, then the new row.
-- Served by tokens_by_hash, browser_sessions_by_human.
WITH signed_in AS (
    SELECT tokens.account, tokens.token, tokens.human, tokens.expires_at
    FROM directory.tokens
    JOIN directory.accounts ON accounts.account = tokens.account
    WHERE tokens.token_hash = $1
        AND tokens.human IS NOT NULL
        AND (tokens.expires_at IS NULL OR tokens.expires_at > statement_timestamp())
        AND accounts.deleted_at IS NULL
    FOR SHARE OF tokens
), run_out AS (
    DELETE FROM directory.browser_sessions
    USING signed_in
    WHERE browser_sessions.account = signed_in.account
        AND browser_sessions.human = signed_in.human
        AND browser_sessions.expires_at <= statement_timestamp()
), made AS (
    INSERT INTO directory.browser_sessions (account, session_hash, human, token, expires_at)
    SELECT account,
        $2,
        human,
        token,
        least(expires_at, statement_timestamp() + make_interval(secs => $3))
    FROM signed_in
    RETURNING account, human
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $4, 'human:' || human, 'browser_session.open', 'human:' || human
    FROM made
)
SELECT human
FROM made
