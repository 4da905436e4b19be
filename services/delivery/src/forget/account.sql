-- Forgets all that is kept for an account: what it still owes is no longer sent, for want of a verified host.
-- Locks: the rows, secrets first. Indexes: secrets_pkey, entry_keys_pkey, verification_budgets_pkey, webhooks_pkey,
-- callback_hosts_pkey.
WITH secrets AS (
    DELETE FROM delivery.secrets
    WHERE account = $1
),

entry_keys AS (
    DELETE FROM delivery.entry_keys
    WHERE account = $1
),

verification_budgets AS (
    DELETE FROM delivery.verification_budgets
    WHERE account = $1
),

webhooks AS (
    DELETE FROM delivery.webhooks
    WHERE account = $1
)

DELETE FROM delivery.callback_hosts
WHERE account = $1;
