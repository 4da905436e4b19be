-- Drops the signing keys whose overlap is over. Locks those rows. A handful of rows, no index.
DELETE FROM delivery.signing_keys
WHERE published_until <= statement_timestamp();
