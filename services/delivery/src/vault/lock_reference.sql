-- Puts of one reference go one after the other, to its first version too, when there is no row to lock.
-- Lock: the advisory one of the reference, until the transaction ends. No index.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), 'delivery.secrets', $1::text, $2::text, $3::text), 0));
