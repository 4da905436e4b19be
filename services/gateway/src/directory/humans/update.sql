-- Patches a human: the e-mail address where $3 says so, the role where $5 is not null.
-- Locks: her row. Served by humans_pkey.
WITH changed AS (
    UPDATE directory.humans
    SET email = CASE WHEN $3 THEN $4 ELSE email END,
        role = coalesce($5, role)
    WHERE account = $1
        AND human = $2
    RETURNING account, human, email, role, created_at
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target, detail)
    SELECT account, $6, $7, 'human.update', 'human:' || human, jsonb_build_object('role', role)
    FROM changed
)
SELECT human, email, role, created_at
FROM changed
