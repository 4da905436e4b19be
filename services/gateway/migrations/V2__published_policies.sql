-- For lifecycle, which enforces what an account's owner has set beneath or beyond the deployment's limits; null where
-- nothing is set.
CREATE VIEW directory.accounts_v1 AS
SELECT
    account,
    (policy #>> '{rate_limit,requests_per_minute}')::bigint AS requests_per_minute,
    (policy #>> '{rate_limit,inter_agent_requests_per_minute}')::bigint AS inter_agent_requests_per_minute,
    (policy #>> '{rate_limit,inbox_depth}')::bigint AS inbox_depth,
    (policy ->> 'retention_days')::bigint AS retention_days
FROM directory.accounts
WHERE deleted_at IS NULL;

GRANT USAGE ON SCHEMA directory TO hub_lifecycle;
GRANT SELECT ON directory.accounts_v1 TO hub_lifecycle;
