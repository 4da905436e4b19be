-- What was deleted, and is still to be forgotten by the tiers that keep something of it (design rule 5).
CREATE TABLE directory.leaving (
    account text COLLATE "C" NOT NULL,
    -- Empty: the account, with all its agents.
    agent   text COLLATE "C" NOT NULL,
    -- When they are asked to next.
    due_at  timestamptz      NOT NULL,
    PRIMARY KEY (account, agent)
);

CREATE INDEX leaving_due ON directory.leaving (due_at);

-- For delivery, which forgets what it keeps of agents that are gone, and of no other.
GRANT USAGE ON SCHEMA directory TO hub_delivery;
GRANT SELECT ON directory.agents_v1 TO hub_delivery;
