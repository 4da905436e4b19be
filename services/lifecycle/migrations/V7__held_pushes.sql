-- Pushes to a host that nothing is sent to are held: kept as they are, out of sight of the relay, until they are released.

ALTER TABLE lifecycle.pushes DROP CONSTRAINT pushes_state_check;
ALTER TABLE lifecycle.pushes
    -- How often in a row it was put back untried, for want of room for its host.
    ADD COLUMN deferrals integer NOT NULL DEFAULT 0 CHECK (deferrals >= 0),
    -- Attempts of this generation that count toward no cap: they looked whether a paused host was back, and failed.
    ADD COLUMN probes    integer NOT NULL DEFAULT 0 CHECK (probes >= 0),
    -- Since when it is held. The time until its release counts toward no cap.
    ADD COLUMN held_at   timestamptz,
    ADD CONSTRAINT pushes_state_check
        CHECK (state IN ('due', 'held', 'delivered', 'refused', 'exhausted', 'expired')),
    ADD CONSTRAINT pushes_held CHECK (state <> 'held' OR held_at IS NOT NULL);

-- What the release finds, host by host: only what is held is in it.
CREATE INDEX pushes_held ON lifecycle.pushes (account, host, held_at) WHERE state = 'held';
