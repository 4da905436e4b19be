-- The hosts of an agent, or the account's own ($2 empty). Reads only. Index: callback_hosts_pkey.
SELECT host, method, status, challenge, is_rechallenged
FROM delivery.callback_hosts
WHERE account = $1 AND agent = $2
ORDER BY host;
