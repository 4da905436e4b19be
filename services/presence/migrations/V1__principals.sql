-- Who is there: one row for each principal that was ever heard from or stopped (§15.1, §16.4.1).

-- last_seen is told by any qualifying call, last_session_seen by those that name a session; stopped_at stands from
-- an operator's stop until it is lifted. The row is the only place of all three, so that whoever registers and
-- whoever stops meet on its lock.
CREATE TABLE presence.principals (
    account           text NOT NULL,
    agent             text NOT NULL,
    last_seen         timestamptz,
    last_session_seen timestamptz,
    stopped_at        timestamptz,
    PRIMARY KEY (account, agent)
)
-- Rows are updated all the time and no index holds what changes: room in each page keeps the updates there.
WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE VIEW presence.principals_v1 AS
SELECT account, agent, last_seen, last_session_seen, stopped_at
FROM presence.principals;

-- Lifecycle reads what an addressee's reachability is when a message is addressed to it (§8.1).
GRANT USAGE ON SCHEMA presence TO hub_lifecycle;
GRANT SELECT ON presence.principals_v1 TO hub_lifecycle;
