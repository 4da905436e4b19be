-- The keys before the one that was just made ($1) stay published until an overlap ($2, in seconds) after it has begun to
-- sign. Locks those rows. A handful of rows, no index.
UPDATE delivery.signing_keys AS before
SET published_until = made.signs_from + $2::bigint * interval '1 second'
FROM delivery.signing_keys AS made
WHERE made.kid = $1 AND before.kid <> $1 AND before.published_until IS NULL;
