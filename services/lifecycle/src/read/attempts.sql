-- Lists the attempts of a message's pushes, oldest first.
--
-- Locks: none. Indexes: the primary keys of push_attempts and envelopes.
SELECT
    attempt.number,
    attempt.at,
    envelope.callback_url,
    attempt.status,
    attempt.error,
    attempt.duration_ms,
    attempt.outcome
FROM lifecycle.push_attempts AS attempt
INNER JOIN lifecycle.envelopes AS envelope
    ON attempt.account = envelope.account AND attempt.message_id = envelope.message_id
WHERE attempt.account = $1 AND attempt.message_id = $2
ORDER BY attempt.generation, attempt.number
LIMIT $3
