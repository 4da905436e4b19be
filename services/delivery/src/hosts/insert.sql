-- Registers a host for an agent, or raises the one that is there, unless the agent has as many hosts as one may
-- have ($6): then no row. Locks the row if it is there. Index: callback_hosts_pkey.
INSERT INTO delivery.callback_hosts AS host (account, agent, host, method, status)
SELECT $1, $2, $3, $4, $5
WHERE (
    SELECT count(*)
    FROM delivery.callback_hosts
    WHERE account = $1 AND agent = $2 AND host <> $3
) < $6
ON CONFLICT (account, agent, host) DO UPDATE
SET method = excluded.method, status = excluded.status
RETURNING host.host, host.method, host.status;
