-- Broadcasts: one directive to many agents. What was written is kept once, with a row for each agent, fixed when it was
-- accepted. Each agent then gets a directive like any other, in chunks.

CREATE TABLE lifecycle.broadcasts (
    account       text COLLATE "C" NOT NULL,
    broadcast_id  text COLLATE "C" NOT NULL,
    -- `human:…`, as attested.
    author        text             NOT NULL,
    -- What each directive says, as JSON: what was written but for whom it is for (design rule 8).
    content       text             NOT NULL,
    -- Its title, as JSON, and the labels that were asked for; null where agents were named.
    title         text             NOT NULL,
    labels        text,
    recipients    integer          NOT NULL CHECK (recipients > 0),
    accepted_at   timestamptz      NOT NULL,
    expires_at    timestamptz,
    -- When its job is published again, nothing having been heard of it; null once every agent had its turn.
    due_at        timestamptz,
    fanned_out_at timestamptz,
    -- Until when it is shown: by then its directives are gone.
    kept_until    timestamptz,

    PRIMARY KEY (account, broadcast_id),
    CONSTRAINT broadcasts_due CHECK ((due_at IS NULL) = (fanned_out_at IS NOT NULL)),
    CONSTRAINT broadcasts_kept CHECK ((kept_until IS NULL) = (fanned_out_at IS NULL))
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);

-- What the relay finds, over all accounts, and what retention does.
CREATE INDEX broadcasts_owed ON lifecycle.broadcasts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX broadcasts_over ON lifecycle.broadcasts (kept_until) WHERE kept_until IS NOT NULL;

CREATE TABLE lifecycle.broadcast_recipients (
    account      text COLLATE "C" NOT NULL,
    broadcast_id text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    -- Of its directive, from the beginning: a chunk that is done again makes no second one.
    directive_id text COLLATE "C" NOT NULL,
    -- `pending` until its turn. From `sent` on its entry says more; when that is dropped, how it ended is kept here.
    state        text COLLATE "C" NOT NULL CHECK (
        state IN ('pending', 'sent', 'undeliverable', 'acknowledged', 'bounced', 'expired')
    ),
    -- Why it can have no directive.
    reason       text COLLATE "C" CHECK (reason IN ('unknown_destination', 'rate_limited')),

    PRIMARY KEY (account, broadcast_id, agent),
    CONSTRAINT broadcast_recipients_reason CHECK ((reason IS NOT NULL) = (state = 'undeliverable'))
)
WITH (
    -- Each row is rewritten at its turn, and once more when its directive is dropped.
    fillfactor = 80,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02
);

-- What a chunk walks: only those are in it whose turn is to come.
CREATE INDEX broadcast_recipients_pending ON lifecycle.broadcast_recipients (account, broadcast_id, agent)
WHERE state = 'pending';
-- Whose directive it is.
CREATE UNIQUE INDEX broadcast_recipients_by_directive ON lifecycle.broadcast_recipients (account, directive_id);
