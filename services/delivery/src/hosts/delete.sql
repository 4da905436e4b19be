-- Takes a host back; deliveries look again before each attempt (§9.4). Locks the row. Index: callback_hosts_pkey.
DELETE FROM delivery.callback_hosts
WHERE account = $1 AND agent = $2 AND host = $3;
