-- Revokes a token; the browser sessions opened with it go by their foreign key.
-- Locks: its row, then theirs. Served by tokens_pkey, browser_sessions_by_token.
WITH gone AS (
    DELETE FROM directory.tokens
    WHERE account = $1
        AND token = $2
    RETURNING account, token, human, agent
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $3, $4, 'token.revoke', token, jsonb_build_object('subject', coalesce('human:' || human, 'agent:' || agent))
    FROM gone
)
SELECT token
FROM gone
