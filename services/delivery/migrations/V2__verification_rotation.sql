-- Callback hosts are verified by a challenge (§9.4); keys are rotated with an overlap (§9.2).

-- What the agent has to show at the host; none where an operator vouches for it.
ALTER TABLE delivery.callback_hosts
    ADD COLUMN challenge text,
    ADD CHECK ((method = 'operator') = (challenge IS NULL));

-- How many looks for a challenge an account has asked for in the minute that began then.
CREATE TABLE delivery.verification_budgets (
    account  text        NOT NULL,
    began_at timestamptz NOT NULL,
    spent    integer     NOT NULL CHECK (spent >= 1),
    PRIMARY KEY (account)
);

-- When a retiring version is no longer listed, and dropped by the next sweep.
ALTER TABLE delivery.secrets ADD COLUMN retires_at timestamptz;

UPDATE delivery.secrets
SET retires_at = statement_timestamp() + interval '1 day'
WHERE status = 'retiring';

ALTER TABLE delivery.secrets ADD CHECK ((status = 'retiring') = (retires_at IS NOT NULL));

CREATE INDEX secrets_retiring ON delivery.secrets (retires_at) WHERE retires_at IS NOT NULL;

-- The key that signs is the one whose time to sign has come last; the one before stays published for a while. Time alone
-- moves them on, so that no pass can be late.
DROP INDEX delivery.signing_keys_one_active;

ALTER TABLE delivery.signing_keys
    DROP COLUMN status,
    ADD COLUMN signs_from timestamptz NOT NULL DEFAULT statement_timestamp(),
    ADD COLUMN published_until timestamptz;
