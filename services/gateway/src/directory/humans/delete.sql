-- Removes a human; her tokens and browser sessions go by their foreign keys. Where $5 says so the last owner stays: `is_last`
-- is true and nothing has changed. One row where there is such a human, none otherwise.
-- Locks: the account's owners in their order, her row, then what hangs on it. Two who remove each other at once meet there,
-- and the second finds what the first has left. Served by humans_pkey, tokens_by_human, browser_sessions_by_human.
WITH owners AS (
    SELECT human
    FROM directory.humans
    WHERE account = $1
        AND role = 'owner'
    ORDER BY human
    FOR UPDATE
), found AS (
    SELECT human,
        $5::boolean AND EXISTS (SELECT FROM owners WHERE human = $2)
            AND NOT EXISTS (SELECT FROM owners WHERE human <> $2) AS is_last
    FROM directory.humans
    WHERE account = $1
        AND human = $2
), gone AS (
    DELETE FROM directory.humans
    WHERE account = $1
        AND human = $2
        AND EXISTS (SELECT FROM found WHERE NOT is_last)
    RETURNING account, human
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $3, $4, 'human.delete', 'human:' || human
    FROM gone
)
SELECT found.is_last,
    gone.human
FROM found
LEFT JOIN gone ON true
