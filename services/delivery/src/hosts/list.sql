-- The hosts of an agent. Reads only. Index: callback_hosts_pkey.
SELECT host, method, status, challenge
FROM delivery.callback_hosts
WHERE account = $1 AND agent = $2
ORDER BY host;
