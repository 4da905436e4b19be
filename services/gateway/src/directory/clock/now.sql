-- The time by which the hub decides (rule 1), for what is written down for later. Reads nothing, locks nothing.
SELECT statement_timestamp() AS now
