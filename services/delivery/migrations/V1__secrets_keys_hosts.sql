-- What the hub needs to call an agent back: its secrets and keys, sealed under the key-encryption key of the
-- configuration that kek_id names (§9.2, §9.6), and the hosts that may be called (§9.4).

-- What a callback's secret_ref or token_ref stands for. A second put rotates: one row is active, the one before
-- it retiring. The seal is bound to (account, owner, ref, version): a row that was moved does not open.
CREATE TABLE delivery.secrets (
    account    text        NOT NULL,
    owner      text        NOT NULL CHECK (owner LIKE 'agent:_%'),
    ref        text        NOT NULL,
    version    bigint      NOT NULL CHECK (version >= 1),
    status     text        NOT NULL CHECK (status IN ('active', 'retiring')),
    sealed     bytea       NOT NULL,
    kek_id     text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (account, owner, ref, version)
);

-- One active and one retiring version of each reference.
CREATE UNIQUE INDEX secrets_one_of_each_status ON delivery.secrets (account, owner, ref, status);

-- How an agent's mailbox entries and its bearer and apikey callbacks are signed; no row means ed25519.
CREATE TABLE delivery.entry_keys (
    account    text        NOT NULL,
    agent      text        NOT NULL,
    version    text        NOT NULL,
    alg        text        NOT NULL CHECK (alg IN ('hmac-sha256', 'ed25519')),
    sealed     bytea,
    kek_id     text,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (account, agent),
    CHECK ((alg = 'hmac-sha256') = (sealed IS NOT NULL)),
    CHECK ((sealed IS NULL) = (kek_id IS NULL))
);

CREATE TABLE delivery.callback_hosts (
    account    text        NOT NULL,
    agent      text        NOT NULL,
    host       text        NOT NULL,
    method     text        NOT NULL CHECK (method IN ('dns-txt', 'well-known', 'operator')),
    status     text        NOT NULL CHECK (status IN ('pending', 'verified')),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (account, agent, host)
);

-- The hub's own Ed25519 keys, of the whole installation.
CREATE TABLE delivery.signing_keys (
    kid        text        NOT NULL,
    public_key bytea       NOT NULL CHECK (octet_length(public_key) = 32),
    status     text        NOT NULL CHECK (status IN ('active', 'retiring')),
    sealed     bytea       NOT NULL,
    kek_id     text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (kid)
);

-- Of the replicas that make the first key at once, one wins.
CREATE UNIQUE INDEX signing_keys_one_active ON delivery.signing_keys (status) WHERE status = 'active';

-- For lifecycle, which refuses at submit a callback to a host that is not verified for the agent.
CREATE VIEW delivery.callback_hosts_v1 AS
SELECT account, agent, host, status
FROM delivery.callback_hosts;

GRANT USAGE ON SCHEMA delivery TO hub_lifecycle;
GRANT SELECT ON delivery.callback_hosts_v1 TO hub_lifecycle;
