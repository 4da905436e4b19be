-- Patches a human: the e-mail address where $3 says so, the role where $5 is not null. Where $8 says so the last owner stays
-- one: `is_last` is true and nothing has changed. One row where there is such a human, none otherwise.
-- Locks: the account's owners in their order where the role changes, then her row. Two who demote each other at once meet
-- there, and the second finds what the first has left. Served by humans_pkey.
WITH owners AS (
    SELECT human
    FROM directory.humans
    WHERE account = $1
        AND role = 'owner'
        AND $5::text IS NOT NULL
    ORDER BY human
    FOR UPDATE
), found AS (
    SELECT human,
        $8::boolean AND $5::text <> 'owner'
            AND EXISTS (SELECT FROM owners WHERE human = $2)
            AND NOT EXISTS (SELECT FROM owners WHERE human <> $2) AS is_last
    FROM directory.humans
    WHERE account = $1
        AND human = $2
), changed AS (
    UPDATE directory.humans
    SET email = CASE WHEN $3::boolean THEN $4::text ELSE email END,
        role = coalesce($5::text, role)
    WHERE account = $1
        AND human = $2
        AND EXISTS (SELECT FROM found WHERE is_last IS NOT TRUE)
    RETURNING account, human, email, role, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $6, $7, 'human.update', 'human:' || human, jsonb_build_object('role', role)
    FROM changed
)
SELECT found.is_last IS TRUE AS is_last,
    changed.human,
    changed.email,
    changed.role,
    changed.created_at
FROM found
LEFT JOIN changed ON true
