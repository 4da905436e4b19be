-- The labels that agents of an account carry, the commonest first, at most $3; of agents, the first $2 are looked at.
-- No locks. Served by agents_pkey.
SELECT label.name,
    label.value,
    count(*) AS agents
FROM (
    SELECT agents.labels
    FROM directory.agents
    WHERE agents.account = $1
        AND strpos(agents.agent, '#') = 0
    ORDER BY agents.agent
    LIMIT $2
) AS known
CROSS JOIN LATERAL jsonb_each_text(known.labels) AS label (name, value)
GROUP BY label.name, label.value
ORDER BY count(*) DESC, label.name, label.value
LIMIT $3
