-- Limits (§8.6): what an agent may still submit, and what of it is waiting.

CREATE TABLE lifecycle.budgets (
    account   text COLLATE "C" NOT NULL,
    agent     text COLLATE "C" NOT NULL,
    -- What is charged to it: addressed messages where they have a budget of their own, all others to the common one.
    scope     text COLLATE "C" NOT NULL CHECK (scope IN ('common', 'addressed')),
    resets_at timestamptz      NOT NULL,
    spent     bigint           NOT NULL CHECK (spent >= 1),

    PRIMARY KEY (account, agent, scope)
)
WITH (
    -- One row per agent, rewritten at each submit and never indexed by what changes.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

-- The open messages of an agent, which are counted. Its predicate says more than `open` does, so that no statement
-- which looks for one message is planned with it.
CREATE INDEX messages_waiting ON lifecycle.messages (account, agent) WHERE status = 'open' AND kind <> 'notify';
