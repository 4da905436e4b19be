-- Forgets all that is known against a host of an account: what is held for it is sent.
--
-- Locks: the row. Index: host_health_pkey.
DELETE FROM delivery.host_health
WHERE account = $1 AND host = $2;
