-- Drops at most so many ($1) retiring secrets whose overlap is over; what others hold is left for the next time.
-- Locks those rows. Index: secrets_retiring.
DELETE FROM delivery.secrets
WHERE
    (account, owner, ref, version) IN (
        SELECT account, owner, ref, version
        FROM delivery.secrets
        WHERE retires_at <= statement_timestamp()
        ORDER BY retires_at
        LIMIT $1
        FOR UPDATE SKIP LOCKED
    );
