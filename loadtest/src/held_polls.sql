-- Makes $2 agents of account $1, each with a token of its own, as the administration would one by one. The tokens, in the
-- order of the agents' numbers.
WITH made AS MATERIALIZED (
    SELECT
        number,
        'bench/waiting-' || number AS agent,
        'ma2h_agent_' || rtrim(
            translate(
                encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'base64'), '+/', '-_'
            ),
            '='
        ) AS token
    FROM generate_series(0, $2::bigint - 1) AS series (number)
),

agents AS (
    INSERT INTO directory.agents (account, agent)
    SELECT $1, made.agent
    FROM made
),

tokens AS (
    INSERT INTO directory.tokens (account, token, agent, token_hash)
    SELECT $1, 'tok_BENCH' || made.number, made.agent, sha256(convert_to(made.token, 'UTF8'))
    FROM made
)

SELECT made.token
FROM made
ORDER BY made.number
