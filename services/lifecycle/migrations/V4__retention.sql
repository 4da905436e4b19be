-- Retention (§8.2, design rule 12): when what has ended is looked at again, and what stays of it.

ALTER TABLE lifecycle.messages
    -- From when the deployment's retention is counted for the next look; null: from the terminal. It lies after that where
    -- an account keeps its messages longer, and through the grace.
    ADD COLUMN kept_from timestamptz;

-- What has ended, whatever is next for it, over all accounts.
CREATE INDEX messages_kept ON lifecycle.messages ((coalesce(kept_from, terminal_at))) WHERE terminal_at IS NOT NULL;

-- What answers 410: there was a message, and nothing of its content is left.
CREATE TABLE lifecycle.tombstones (
    account     text COLLATE "C" NOT NULL,
    message_id  text COLLATE "C" NOT NULL,
    -- Who submitted it, and may be told that it is gone.
    agent       text COLLATE "C" NOT NULL,
    -- How it ended: an idempotency key may outlive its message, and a repeated submit is told.
    status      text COLLATE "C" NOT NULL,
    erased_at   timestamptz      NOT NULL,
    -- Of the call that erased it; null where its time was over.
    deletion_id text COLLATE "C",

    PRIMARY KEY (account, message_id)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

ALTER TABLE lifecycle.idempotency
    -- When a key whose time is over is looked at next, its message having been open at the last look.
    ADD COLUMN postponed_until timestamptz;

CREATE INDEX idempotency_over ON lifecycle.idempotency ((coalesce(postponed_until, expires_at)));

-- What is not delivered when its response track expires never will be.
ALTER TABLE lifecycle.pushes DROP CONSTRAINT pushes_state_check;
ALTER TABLE lifecycle.pushes ADD CONSTRAINT pushes_state_check
    CHECK (state IN ('due', 'delivered', 'refused', 'exhausted', 'expired'));

-- These are deleted from by now, at the pace they were inserted.
ALTER TABLE lifecycle.envelopes SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE lifecycle.push_attempts SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE lifecycle.idempotency SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
