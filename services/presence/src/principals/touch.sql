-- An agent was heard from now, unless that is known from less than $3 milliseconds ago: then no row. Of calls that
-- come at once one writes, whichever process they reach, and it alone learns what was known before.
-- Locks the principal's row. Index: principals_pkey.
WITH before AS (
    SELECT last_seen
    FROM presence.principals
    WHERE account = $1 AND agent = $2
)
INSERT INTO presence.principals AS principal (account, agent, last_seen)
VALUES ($1, $2, statement_timestamp())
ON CONFLICT (account, agent) DO UPDATE
SET last_seen = excluded.last_seen
WHERE
    principal.last_seen IS NULL
    OR principal.last_seen <= excluded.last_seen - $3 * interval '1 millisecond'
RETURNING coalesce(
    (SELECT last_seen >= statement_timestamp() - $4 * interval '1 second' FROM before),
    false
) AS was_online;
