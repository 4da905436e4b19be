-- For lifecycle, which takes directives for agents that are there only (§13.2).
CREATE VIEW directory.agents_v1 AS
SELECT agents.account, agents.agent, agents.labels
FROM directory.agents
INNER JOIN directory.accounts ON agents.account = accounts.account
WHERE accounts.deleted_at IS NULL;

GRANT SELECT ON directory.agents_v1 TO hub_lifecycle;
