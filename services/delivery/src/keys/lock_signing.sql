-- New signing keys are made one after the other, also the first, when there is no row to lock.
-- Lock: the advisory one of the signing keys, until the transaction ends. No index.
SELECT pg_advisory_xact_lock(hashtextextended('delivery.signing_keys', 0));
