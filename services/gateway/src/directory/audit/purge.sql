-- Drops at most so many ($1) events that are older than $2 seconds, the oldest first; what others hold is left for the next
-- time. A row back for each. Locks those rows. Served by audit_oldest, audit_pkey.
WITH over AS MATERIALIZED (
    SELECT audit.account, audit.event
    FROM directory.audit
    WHERE audit.at <= statement_timestamp() - $2::bigint * interval '1 second'
    ORDER BY audit.at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
DELETE FROM directory.audit
USING over
WHERE audit.account = over.account
    AND audit.event = over.event
RETURNING audit.event
