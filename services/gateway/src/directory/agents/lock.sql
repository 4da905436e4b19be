-- Reads the labels that a patch is merged into, and holds the agent until the patch is written.
-- Locks: the agent. Served by agents_pkey.
SELECT labels::text AS labels
FROM directory.agents
WHERE account = $1
    AND agent = $2
FOR NO KEY UPDATE
