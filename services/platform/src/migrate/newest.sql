-- The newest migration that was applied.
--
-- Index: the primary key of {history}.
SELECT max(history.version) AS version
FROM {schema}.{history} AS history
