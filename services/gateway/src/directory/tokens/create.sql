-- Makes a token for a subject that is there. One row: `found` says whether the account is there, `token` is null where
-- it has no such subject. $3 is a human's id or null, $4 an agent's or null.
-- Locks: the account and the subject (shared, against their deletion), then the new row.
-- Served by accounts_pkey, humans_pkey, agents_pkey.
WITH found AS (
    SELECT account
    FROM directory.accounts
    WHERE account = $1
        AND deleted_at IS NULL
    FOR SHARE
), subject_human AS (
    SELECT humans.account, humans.human
    FROM directory.humans
    JOIN found ON found.account = humans.account
    WHERE humans.human = $3
    FOR SHARE OF humans
), subject_agent AS (
    SELECT agents.account, agents.agent
    FROM directory.agents
    JOIN found ON found.account = agents.account
    WHERE agents.agent = $4
    FOR SHARE OF agents
), made AS (
    INSERT INTO directory.tokens (account, token, human, agent, token_hash, expires_at)
    SELECT account, $2::text, human, NULL, $5::bytea, $6::timestamptz
    FROM subject_human
    UNION ALL
    SELECT account, $2::text, NULL, agent, $5::bytea, $6::timestamptz
    FROM subject_agent
    RETURNING account, token, human, agent, created_at, expires_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $7, $8, 'token.create', token, jsonb_build_object('subject', coalesce('human:' || human, 'agent:' || agent))
    FROM made
)
SELECT EXISTS (SELECT FROM found) AS found,
    made.token,
    made.human,
    made.agent,
    made.created_at,
    made.expires_at
FROM (VALUES (1)) AS one
LEFT JOIN made ON true
