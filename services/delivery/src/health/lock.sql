-- Makes sure that these hosts have a row, for the decision what comes of their failures.
--
-- Locks: the rows it makes; one that another is making is waited for. Index: host_health_pkey.
INSERT INTO delivery.host_health (account, host)
SELECT failed.account, failed.host
FROM unnest($1::text[], $2::text[]) AS failed (account, host)
ORDER BY failed.account, failed.host
ON CONFLICT (account, host) DO NOTHING;
