-- The health of hosts, as callbacks find it: a row stands only while a host fails or is paused. Shared by all replicas.

CREATE TABLE delivery.host_health (
    account       text COLLATE "C" NOT NULL,
    host          text COLLATE "C" NOT NULL,
    -- In a row.
    failures      integer          NOT NULL DEFAULT 0 CHECK (failures >= 0),
    -- The first of them; null where it has not failed.
    failing_since timestamptz,
    -- What the last one got: a status, or the kind of failure.
    last_failure  text,
    -- Looks whether it is back that found it is not, since the breaker opened.
    probes_failed integer          NOT NULL DEFAULT 0 CHECK (probes_failed >= 0),
    -- Before this nothing is sent to it, then one push, by whoever moves this on. Null while the breaker is closed;
    -- infinity where only a person resumes it.
    probe_at      timestamptz,
    paused_at     timestamptz,
    -- `system:hub`, or the person.
    paused_by     text,
    -- Of a pause by the hub: the account's people are told of each once.
    pause_id      text,
    told_at       timestamptz,

    PRIMARY KEY (account, host),
    CONSTRAINT host_health_pause CHECK (
        num_nulls(paused_at, paused_by) IN (0, 2)
        AND (paused_at IS NULL OR probe_at IS NOT NULL)
        AND (pause_id IS NOT NULL) = (coalesce(paused_by, '') = 'system:hub')
    )
)
WITH (
    -- Few rows, each rewritten by every batch of failures, and never indexed by what changes.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.1,
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_cost_delay = 0
);

-- Pauses that are to be told of.
CREATE INDEX host_health_untold ON delivery.host_health (paused_at) WHERE pause_id IS NOT NULL AND told_at IS NULL;

-- For lifecycle, which holds what is owed to these hosts until it may be sent.
CREATE VIEW delivery.host_holds_v1 AS
SELECT account, host, probe_at
FROM delivery.host_health
WHERE probe_at IS NOT NULL;

GRANT SELECT ON delivery.host_holds_v1 TO hub_lifecycle;
