-- Lets one migration run at a time in this database: a session lock, given back when the session ends.
-- The number is this product's own choice.
SELECT pg_catalog.pg_advisory_lock(7236837108471325);
