-- Mailboxes (§8.7, §13): directives, the entries that lie in mailboxes, and acknowledgements (§14).
--
-- A directive is two rows, as a message is: `directives` holds what was written, once; its entry is the narrow row that
-- drains and acks move. The other kinds of entry bring their content from elsewhere: a message and a response from
-- their message.

CREATE TABLE lifecycle.directives (
    account      text COLLATE "C" NOT NULL,
    directive_id text COLLATE "C" NOT NULL,
    -- The addressee, without its session.
    agent        text COLLATE "C" NOT NULL,
    -- `human:…`, as attested.
    author       text             NOT NULL,
    -- The envelope (§13.1) as it is delivered, composed once and kept as text (design rule 8).
    directive    text             NOT NULL
)
WITH (
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX directives_by_agent ON lifecycle.directives (account, agent, directive_id);
ALTER TABLE lifecycle.directives ADD PRIMARY KEY (account, directive_id);

CREATE TABLE lifecycle.entries (
    account       text COLLATE "C" NOT NULL,
    -- The ack key (§8.7.1): of a directive, a message or a receipt its own id, of a response its resolution's.
    entry_id      text COLLATE "C" NOT NULL,
    agent         text COLLATE "C" NOT NULL,
    -- The one session that it is for; null where it is for the agent.
    session       text COLLATE "C",
    kind          text COLLATE "C" NOT NULL CHECK (kind IN ('directive', 'message', 'response', 'receipt')),
    -- Which drains are shown it: a session's own entries, what any session takes, and what a drain takes that names none.
    -- A drain walks each of its lanes by itself, so that it never scans past what it may not be shown.
    lane          text COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        coalesce(session, CASE WHEN kind = 'directive' THEN 'everyone' ELSE 'sessions' END)
    ) STORED,
    -- Order of arrival, among entries of one moment.
    seq           bigint           NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- The mailbox track (§14.2).
    state         text COLLATE "C" NOT NULL CHECK (
        state IN ('queued', 'delivered', 'acknowledged', 'bounced', 'expired')
    ),
    -- Where a bounce found it.
    prior         text COLLATE "C" CHECK (prior IN ('queued', 'delivered')),
    enqueued_at   timestamptz      NOT NULL,
    -- When it is next given to a drain: at first when it came, so that first deliveries are in order, then when the window
    -- of its last delivery is over; never again: infinity.
    visible_at    timestamptz      NOT NULL,
    -- After this it is given to nobody. If it never was, it has expired.
    drops_at      timestamptz      NOT NULL,
    -- After this it can no longer be acknowledged: what was delivered has bounced.
    kept_until    timestamptz      NOT NULL,
    delivered_at  timestamptz,
    ended_at      timestamptz,
    -- Deliveries by drains that stand: a drain that could not hand it over takes its own back.
    deliveries    integer          NOT NULL CHECK (deliveries >= 0),
    -- The drain that it was last given to; claiming again with it returns the same entries.
    claim_id      text COLLATE "C",
    -- About how large it is when it is handed out.
    content_bytes integer          NOT NULL CHECK (content_bytes >= 0),

    CONSTRAINT entries_delivered CHECK (
        (delivered_at IS NOT NULL) = (state IN ('delivered', 'acknowledged') OR coalesce(prior = 'delivered', false))
    ),
    CONSTRAINT entries_bounced CHECK ((prior IS NOT NULL) = (state = 'bounced')),
    CONSTRAINT entries_ended CHECK ((ended_at IS NOT NULL) = (state IN ('acknowledged', 'bounced', 'expired'))),
    CONSTRAINT entries_claimed CHECK (claim_id IS NULL OR ended_at IS NULL),
    CONSTRAINT entries_kept CHECK (drops_at <= kept_until)
)
WITH (
    -- A queue: each row is rewritten at every delivery and at its ack, then rests.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);

-- What a drain walks: it holds what is not ended, and what is in flight lies behind all that is visible.
CREATE INDEX entries_waiting ON lifecycle.entries (account, agent, lane, visible_at, seq) WHERE ended_at IS NULL;
-- What a claim holds.
CREATE INDEX entries_claimed ON lifecycle.entries (account, claim_id) WHERE claim_id IS NOT NULL;
-- What the sweep finds, over all accounts: what is to be dropped, and then what was delivered and never acknowledged.
CREATE INDEX entries_dropping ON lifecycle.entries (drops_at) WHERE ended_at IS NULL AND visible_at < 'infinity';
CREATE INDEX entries_orphaned ON lifecycle.entries (kept_until) WHERE ended_at IS NULL AND visible_at = 'infinity';
-- What retention finds, over all accounts.
CREATE INDEX entries_kept ON lifecycle.entries (ended_at) WHERE ended_at IS NOT NULL;
ALTER TABLE lifecycle.entries ADD PRIMARY KEY (account, entry_id);

-- Mailboxes whose agent was deleted: what came until then ends as undeliverable, in chunks.
CREATE TABLE lifecycle.closed_mailboxes (
    account   text COLLATE "C" NOT NULL,
    agent     text COLLATE "C" NOT NULL,
    closed_at timestamptz      NOT NULL,

    PRIMARY KEY (account, agent)
);

-- Keys that make a human's call repeatable, each with the id of what it made.
CREATE TABLE lifecycle.human_keys (
    account    text COLLATE "C" NOT NULL,
    human      text COLLATE "C" NOT NULL,
    -- SHA-256 of the key's bytes.
    key_hash   bytea            NOT NULL CHECK (octet_length(key_hash) = 32),
    -- SHA-256 of what was asked for, in its lossless form.
    digest     bytea            NOT NULL CHECK (octet_length(digest) = 32),
    made_id    text COLLATE "C" NOT NULL,
    expires_at timestamptz      NOT NULL,

    PRIMARY KEY (account, human, key_hash)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX human_keys_over ON lifecycle.human_keys (expires_at);

-- Acknowledgements (§14.1): the first one stands.
CREATE TABLE lifecycle.acks (
    account       text COLLATE "C" NOT NULL,
    in_reply_to   text COLLATE "C" NOT NULL,
    -- What is acknowledged: that a mailbox's entry came, or that the Response to a message did. An addressed message can
    -- have both.
    leg           text COLLATE "C" NOT NULL CHECK (leg IN ('mailbox', 'response')),
    ma2h_version  text COLLATE "C" NOT NULL,
    -- `agent:…`, as attested.
    by            text             NOT NULL,
    acked_at      timestamptz      NOT NULL,
    note          text,
    resolution_id text COLLATE "C",

    PRIMARY KEY (account, in_reply_to, leg)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);
