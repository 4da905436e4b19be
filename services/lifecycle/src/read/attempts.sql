-- Lists the latest attempts of a message's pushes, oldest first. A redelivery begins a new generation, which counts its
-- attempts from 1. What kind of place an attempt came to is the operator's to know, not the account's (§9.4).
--
-- Locks: none. Indexes: the primary keys of push_attempts and envelopes.
SELECT
    latest.generation,
    latest.number,
    latest.at,
    envelope.callback_url,
    latest.status,
    latest.error,
    latest.duration_ms,
    latest.outcome,
    latest.next_attempt_at
FROM (
    SELECT *
    FROM lifecycle.push_attempts AS attempt
    WHERE attempt.account = $1 AND attempt.message_id = $2
    ORDER BY attempt.generation DESC, attempt.number DESC
    LIMIT $3
) AS latest
INNER JOIN lifecycle.envelopes AS envelope
    ON latest.account = envelope.account AND latest.message_id = envelope.message_id
ORDER BY latest.generation, latest.number
