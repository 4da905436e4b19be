-- Registers a host for an agent, unless the agent has as many hosts as one may have ($7): then no row. One that is there
-- stays as it is where the method is the same, so that a call whose answer was lost can be repeated. By another method it
-- gets a challenge of its own, and one that is verified stays so until that is found: what is owed to it goes on.
-- Locks the row if it is there. Index: callback_hosts_pkey.
INSERT INTO delivery.callback_hosts AS host (account, agent, host, method, status, challenge)
SELECT $1, $2, $3, $4, $5, $6
WHERE (
    SELECT count(*)
    FROM delivery.callback_hosts
    WHERE account = $1 AND agent = $2 AND host <> $3
) < $7
ON CONFLICT (account, agent, host) DO UPDATE
SET
    method = excluded.method,
    status = CASE
        WHEN host.method = excluded.method OR host.status = 'verified' THEN host.status
        ELSE excluded.status
    END,
    is_rechallenged = CASE
        WHEN host.method = excluded.method THEN host.is_rechallenged
        ELSE host.status = 'verified' AND excluded.status = 'pending'
    END,
    challenge = CASE WHEN host.method = excluded.method THEN host.challenge ELSE excluded.challenge END
RETURNING host.host, host.method, host.status, host.challenge, host.is_rechallenged;
