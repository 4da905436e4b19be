-- For presence, which tells of agents that are there only (§15.3), and forgets those that have gone.
GRANT USAGE ON SCHEMA directory TO hub_presence;
GRANT SELECT ON directory.agents_v1 TO hub_presence;
