-- Messages: what was accepted, where it stands, and the keys that make a submit repeatable.
--
-- A message is two rows. `envelopes` is written once and read by list and pull: it carries the text as it was accepted,
-- what is extracted from it, and every index that a list walks. `messages` is the row that transitions move: narrow, so
-- that a compare-and-set copies a few hundred bytes, and with few indexes, so that it adds few entries. Both rows are
-- written by one statement and found by one key; foreign keys between them would cost a lock per insert and stand in
-- the way of dropping history by id.
--
-- Primary keys are added after the other indexes: while a table is small all its indexes cost the same, and PostgreSQL
-- then takes the youngest, for a plan that a prepared statement keeps while the table grows.
--
-- Keys compare by byte (`COLLATE "C"`): ids sort by time in that order, whatever the locale of the database.

CREATE TABLE lifecycle.envelopes (
    account          text COLLATE "C" NOT NULL,
    message_id       text COLLATE "C" NOT NULL,
    agent            text COLLATE "C" NOT NULL,
    run_id           text             NOT NULL,
    kind             text COLLATE "C" NOT NULL CHECK (kind IN ('notify', 'ask', 'task')),
    mode             text COLLATE "C" CHECK (mode IN ('select', 'input', 'confirm')),
    priority         text COLLATE "C" NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    sensitive        boolean          NOT NULL,
    title            text             NOT NULL,
    tags             text[]           NOT NULL,
    project          text COLLATE "C",
    ma2h_version     text COLLATE "C" NOT NULL,
    -- Where the Response is pushed to; null where it is pulled.
    callback_url     text,
    callback_scheme  text COLLATE "C" CHECK (callback_scheme IN ('hmac', 'bearer', 'apikey')),
    credential_ref   text,
    -- What the message resolves to if it expires, so that expiry reads no envelope.
    expiry_actor     text COLLATE "C" CHECK (expiry_actor LIKE 'system:%'),
    expiry_defaulted boolean,
    expiry_detail    text,
    -- Hashes of the account with each word of the title and with each tag.
    search_keys      bigint[]         NOT NULL,
    -- The text as it was accepted (design rule 8), never jsonb.
    envelope         text             NOT NULL,

    CONSTRAINT envelopes_mode CHECK ((mode IS NOT NULL) = (kind = 'ask')),
    CONSTRAINT envelopes_callback CHECK (
        num_nulls(callback_url, callback_scheme, credential_ref) = CASE WHEN callback_url IS NULL THEN 3 ELSE 0 END
        AND (callback_url IS NULL OR kind <> 'notify')
    ),
    CONSTRAINT envelopes_expiry CHECK (
        num_nulls(expiry_actor, expiry_defaulted, expiry_detail) = CASE WHEN kind = 'notify' THEN 3 ELSE 0 END
    )
)
WITH (
    -- Only inserted into: vacuum comes for the visibility map and to freeze, and early, so that each run stays short.
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02
);

-- One index per filter of a list, each in the order of the list. Normal priority is what most messages have: a walk
-- over the primary key finds it as fast.
CREATE INDEX envelopes_by_agent ON lifecycle.envelopes (account, agent, message_id);
CREATE INDEX envelopes_by_kind ON lifecycle.envelopes (account, kind, message_id);
CREATE INDEX envelopes_by_priority ON lifecycle.envelopes (account, priority, message_id) WHERE priority <> 'normal';
CREATE INDEX envelopes_by_project ON lifecycle.envelopes (account, project, message_id) WHERE project IS NOT NULL;
CREATE INDEX envelopes_by_search_key ON lifecycle.envelopes USING gin (search_keys);
ALTER TABLE lifecycle.envelopes ADD PRIMARY KEY (account, message_id);

CREATE TABLE lifecycle.messages (
    account        text COLLATE "C" NOT NULL,
    message_id     text COLLATE "C" NOT NULL,
    agent          text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    status         text COLLATE "C" NOT NULL,
    accepted_at    timestamptz      NOT NULL,
    expires_at     timestamptz,
    -- When the status became final: of a notify, on acceptance.
    terminal_at    timestamptz,
    resolution_id  text COLLATE "C",
    actor          text,
    defaulted      boolean          NOT NULL DEFAULT false,
    -- A JSON object: the answer, as far as it has one (value, comment, checklist).
    detail         text,
    -- The response track (§14.2).
    delivery_state text COLLATE "C" CHECK (delivery_state IN ('delivered-to-agent', 'acknowledged', 'expired')),
    delivered_at   timestamptz,

    CONSTRAINT messages_status CHECK (
        (kind = 'notify' AND status = 'delivered')
        OR (kind = 'ask' AND status IN ('open', 'answered', 'declined', 'cancelled', 'expired'))
        OR (kind = 'task' AND status IN ('open', 'completed', 'dismissed', 'expired'))
    ),
    CONSTRAINT messages_terminal CHECK ((terminal_at IS NULL) = (status = 'open')),
    CONSTRAINT messages_resolution CHECK (
        num_nulls(resolution_id, actor, detail) = CASE WHEN status IN ('open', 'delivered') THEN 3 ELSE 0 END
    ),
    CONSTRAINT messages_defaulted CHECK (NOT defaulted OR (kind = 'ask' AND status = 'expired')),
    CONSTRAINT messages_delivery CHECK (
        (delivery_state IS NULL OR resolution_id IS NOT NULL)
        AND (delivered_at IS NOT NULL) = coalesce(delivery_state IN ('delivered-to-agent', 'acknowledged'), false)
    )
)
WITH (
    -- Room for the stamp of delivery beside the row it replaces: it touches no index.
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 1,
    autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX messages_by_status ON lifecycle.messages (account, status, message_id);
-- What the expiry sweep finds, over all accounts.
CREATE INDEX messages_expiring ON lifecycle.messages (expires_at) WHERE status = 'open' AND expires_at IS NOT NULL;
ALTER TABLE lifecycle.messages ADD PRIMARY KEY (account, message_id);

CREATE TABLE lifecycle.idempotency (
    account    text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    -- SHA-256 of the key's bytes: any key fits, also one with U+0000.
    key_hash   bytea            NOT NULL CHECK (octet_length(key_hash) = 32),
    message_id text COLLATE "C" NOT NULL,
    -- SHA-256 of the envelope's lossless form (design rule 4).
    digest     bytea            NOT NULL CHECK (octet_length(digest) = 32),
    -- After this the key may be used anew, once its message is no longer open.
    expires_at timestamptz      NOT NULL,

    PRIMARY KEY (account, agent, key_hash)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
