-- Forgets the health of an account's hosts that neither an agent nor the account itself has any more: nothing is held for what
-- cannot be called.
--
-- Both are told the collation of the index they are looked up by; else it would read the hosts of all accounts.
--
-- Locks: the rows. Indexes: host_health_pkey, callback_hosts_pkey.
DELETE FROM delivery.host_health AS health
WHERE
    health.account = $1
    AND NOT EXISTS (
        SELECT 1
        FROM delivery.callback_hosts AS host
        WHERE host.account = health.account COLLATE "default" AND host.host = health.host COLLATE "default"
    );
