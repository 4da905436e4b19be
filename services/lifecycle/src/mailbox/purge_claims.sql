-- Forgets a chunk of claims that became known more than an hour ago, whichever did first: no call of a drain is under way for
-- so long, and whoever last saw a mailbox before something of it was put back then walks it as a whole. Of these, $3 are passed
-- over. Looks $2 milliseconds back. `taken` tells whether there may be more.
--
-- Locks: the claims; those that others hold are passed over. Indexes: claims_over.
WITH over AS MATERIALIZED (
    SELECT claim.ctid AS place
    FROM lifecycle.claims AS claim
    WHERE
        claim.known_at <= statement_timestamp() - interval '1 hour'
        AND claim.known_at > statement_timestamp() - interval '1 hour' - $2::bigint * interval '1 millisecond'
    ORDER BY claim.known_at
    LIMIT $1
    OFFSET $3
    FOR UPDATE SKIP LOCKED
),

forgotten AS (
    DELETE FROM lifecycle.claims AS claim
    USING over
    WHERE claim.ctid = over.place
)

SELECT count(*) AS taken
FROM over
