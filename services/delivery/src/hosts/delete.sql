-- Takes a host back, and with it the webhook that was there; deliveries look again before each attempt (§9.4). Locks both rows.
-- Indexes: callback_hosts_pkey, webhooks_pkey.
WITH webhook AS (
    DELETE FROM delivery.webhooks
    WHERE account = $1 AND agent = $2 AND host = $3
)

DELETE FROM delivery.callback_hosts
WHERE account = $1 AND agent = $2 AND host = $3;
