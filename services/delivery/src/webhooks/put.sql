-- Says where an agent's directives, or the account's acknowledgements ($2 empty), are pushed to from now on, if the owner has the
-- host verified (§9.4) and the secret; else which of both is missing. Locks the row if it is there.
-- Indexes: webhooks_pkey, callback_hosts_pkey, secrets_one_of_each_status.
WITH world AS MATERIALIZED (
    SELECT
        EXISTS (
            SELECT 1
            FROM delivery.callback_hosts AS host
            WHERE host.account = $1 AND host.agent = $2 AND host.host = $4 AND host.status = 'verified'
        ) AS host_verified,
        EXISTS (
            SELECT 1
            FROM delivery.secrets AS secret
            WHERE secret.account = $1 AND secret.owner = $7 AND secret.ref = $6 AND secret.status = 'active'
        ) AS secret_known
),

put AS (
    INSERT INTO delivery.webhooks (account, agent, url, host, scheme, credential_ref)
    SELECT $1, $2, $3, $4, $5, $6
    FROM world
    WHERE world.host_verified AND world.secret_known
    ON CONFLICT (account, agent) DO UPDATE
        SET
            url = excluded.url,
            host = excluded.host,
            scheme = excluded.scheme,
            credential_ref = excluded.credential_ref
)

SELECT world.host_verified, world.secret_known
FROM world;
