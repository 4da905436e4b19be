-- What a batch of pushes needs to be sent: whether its host is registered, and verified now (§9.4), and how its health is,
-- the secret in force behind its reference, and its agent's entry key. What has no agent is the account's own. One row for
-- each push, in their order. Reads only.
-- Indexes: callback_hosts_pkey, host_health_pkey, secrets_one_of_each_status, entry_keys_pkey.
SELECT
    coalesce(host.status = 'verified', false) AS host_verified,
    host.status IS NOT NULL AS host_registered,
    health.account IS NOT NULL AS has_failed,
    health.probe_at IS NOT NULL AS is_held,
    coalesce(health.probe_at <= statement_timestamp(), false) AS may_be_probed,
    secret.version AS secret_version,
    secret.sealed AS secret_sealed,
    secret.kek_id AS secret_kek_id,
    key.alg AS key_alg,
    key.version AS key_version,
    key.sealed AS key_sealed,
    key.kek_id AS key_kek_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    WITH ORDINALITY AS push (account, agent, host, ref, number)
LEFT JOIN delivery.callback_hosts AS host
    ON host.account = push.account AND host.agent = push.agent AND host.host = push.host
LEFT JOIN delivery.host_health AS health
    ON health.account = push.account AND health.host = push.host
LEFT JOIN delivery.secrets AS secret
    ON secret.account = push.account
        AND secret.owner = CASE push.agent WHEN '' THEN 'account' ELSE 'agent:' || push.agent END
        AND secret.ref = push.ref
        AND secret.status = 'active'
LEFT JOIN delivery.entry_keys AS key
    ON key.account = push.account AND key.agent = push.agent
ORDER BY push.number;
