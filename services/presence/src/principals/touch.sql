-- These agents were heard from now. Of each a row, unless that is known from less than $3 milliseconds ago: of calls that
-- come at once one writes, whichever process they reach, and it alone learns whether the agent was online before, which it was
-- if heard from within $4 seconds. Each agent is named once. What is known from before the agent was made is of another that
-- had its id.
--
-- Locks: the principals' rows, by account and agent. Indexes: principals_pkey, the primary keys of directory.agents,
-- directory.accounts.
WITH heard AS MATERIALIZED (
    SELECT asked.account, asked.agent, known.created_at
    FROM unnest($1::text[], $2::text[]) AS asked (account, agent)
    LEFT JOIN LATERAL (
        SELECT agent.created_at
        FROM directory.agents_v1 AS agent
        WHERE agent.account = asked.account AND agent.agent = asked.agent
        LIMIT 1
    ) AS known ON true
),

before AS MATERIALIZED (
    SELECT known.account, known.agent, known.last_seen
    FROM heard
    INNER JOIN presence.principals AS known ON heard.account = known.account AND heard.agent = known.agent
    WHERE heard.created_at IS NULL OR known.last_seen >= heard.created_at
),

written AS (
    INSERT INTO presence.principals AS principal (account, agent, last_seen)
    SELECT heard.account, heard.agent, statement_timestamp()
    FROM heard
    ORDER BY heard.account, heard.agent
    ON CONFLICT (account, agent) DO UPDATE
        SET last_seen = excluded.last_seen
        WHERE
            principal.last_seen IS NULL
            OR principal.last_seen <= excluded.last_seen - $3 * interval '1 millisecond'
            OR principal.last_seen < (
                SELECT heard.created_at
                FROM heard
                WHERE heard.account = principal.account AND heard.agent = principal.agent
            )
    RETURNING principal.account, principal.agent
)

SELECT
    written.account,
    written.agent,
    coalesce(before.last_seen >= statement_timestamp() - $4 * interval '1 second', false) AS was_online
FROM written
LEFT JOIN before ON written.account = before.account AND written.agent = before.agent;
