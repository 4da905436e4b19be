-- Pushes: what is owed to callbacks, and every attempt that was made (design rule 5).

CREATE TABLE lifecycle.pushes (
    account     text COLLATE "C" NOT NULL,
    message_id  text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL CHECK (state IN ('due', 'delivered', 'refused', 'exhausted')),
    -- Raised by each redelivery; an outcome of an older generation changes nothing.
    generation  integer          NOT NULL CHECK (generation >= 1),
    -- Attempts begun in this generation, counted by the claim.
    attempts    integer          NOT NULL CHECK (attempts >= 0),
    -- When the first attempt of this generation was begun.
    started_at  timestamptz,
    -- Before this no attempt is begun.
    attempt_at  timestamptz      NOT NULL,
    -- When the relay publishes the job next: always later than what is expected to settle the push.
    due_at      timestamptz      NOT NULL,
    claim_id    text COLLATE "C",
    claim_until timestamptz,
    -- W3C trace context of the call that made the push owed; may be empty.
    traceparent text COLLATE "C" NOT NULL,

    PRIMARY KEY (account, message_id),
    CONSTRAINT pushes_started CHECK ((started_at IS NULL) = (attempts = 0)),
    CONSTRAINT pushes_claim CHECK (num_nulls(claim_id, claim_until) IN (0, 2) AND (state = 'due' OR claim_id IS NULL))
)
WITH (
    -- A queue: every row is rewritten two or three times within seconds, then rests.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);

-- What the relay finds, over all accounts: only what is owed is in it.
CREATE INDEX pushes_due ON lifecycle.pushes (due_at) WHERE state = 'due';

CREATE TABLE lifecycle.push_attempts (
    account     text COLLATE "C" NOT NULL,
    message_id  text COLLATE "C" NOT NULL,
    generation  integer          NOT NULL CHECK (generation >= 1),
    number      integer          NOT NULL CHECK (number >= 1),
    at          timestamptz      NOT NULL,
    outcome     text COLLATE "C" NOT NULL CHECK (outcome IN ('delivered', 'refused', 'retry', 'exhausted')),
    -- HTTP status, if one came.
    status      integer          CHECK (status BETWEEN 100 AND 999),
    -- Kind of failure, never what the other side said.
    error       text,
    duration_ms integer          NOT NULL CHECK (duration_ms >= 0),

    PRIMARY KEY (account, message_id, generation, number)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
