-- For lifecycle, which sends broadcasts to all agents that carry labels. `account_labels` is what to ask by: the labels lie
-- beneath their account's id, so that the index, which cannot begin with the account, never meets another one's.
CREATE INDEX agents_by_labels ON directory.agents USING gin (jsonb_set('{}', ARRAY[account], labels) jsonb_path_ops);

CREATE OR REPLACE VIEW directory.agents_v1 AS
SELECT
    agents.account,
    agents.agent,
    agents.labels,
    agents.created_at,
    jsonb_set('{}', ARRAY[agents.account], agents.labels) AS account_labels
FROM directory.agents
INNER JOIN directory.accounts ON agents.account = accounts.account
WHERE accounts.deleted_at IS NULL;
