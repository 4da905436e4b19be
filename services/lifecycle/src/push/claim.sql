-- Claims pushes that may be attempted now, each until its lease ends, and counts the attempt (design rule 5).
--
-- Decides: the push is due, its pause is over and no other claim on it is live; or this very claim holds it already,
-- its reply lost, and gets it again under the same number. Claims are given up to $5 bytes, at least one; a row that
-- does not fit comes back as not claimed. `due_at` becomes the end of the lease: if the outcome never comes, the relay
-- publishes the job again then.
--
-- Locks: the pushes, by account and id; those that others hold are passed over.
-- Indexes: the primary keys of pushes, messages, envelopes.
WITH asked AS (
    SELECT DISTINCT job.account, job.message_id
    FROM unnest($2::text[], $3::text[]) AS job (account, message_id)
),

due AS (
    SELECT
        push.account,
        push.message_id,
        octet_length(envelope.envelope) + octet_length(message.detail) AS size_bytes
    FROM lifecycle.pushes AS push
    INNER JOIN asked ON push.account = asked.account AND push.message_id = asked.message_id
    INNER JOIN lifecycle.messages AS message
        ON push.account = message.account AND push.message_id = message.message_id
    INNER JOIN lifecycle.envelopes AS envelope
        ON push.account = envelope.account AND push.message_id = envelope.message_id
    WHERE
        push.state = 'due'
        AND (
            push.claim_id = $1
            OR (
                push.attempt_at <= statement_timestamp()
                AND (push.claim_until IS NULL OR push.claim_until < statement_timestamp())
            )
        )
    ORDER BY push.account, push.message_id
    FOR UPDATE OF push SKIP LOCKED
),

fitting AS (
    SELECT
        due.account,
        due.message_id,
        coalesce(sum(due.size_bytes) OVER earlier, 0) = 0 OR sum(due.size_bytes) OVER through <= $5::bigint AS fits
    FROM due
    WINDOW
        through AS (ORDER BY due.account, due.message_id ROWS UNBOUNDED PRECEDING),
        earlier AS (
            ORDER BY due.account, due.message_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

claimed AS (
    UPDATE lifecycle.pushes AS push
    SET
        attempts = CASE WHEN push.claim_id = $1 THEN push.attempts ELSE push.attempts + 1 END,
        started_at = coalesce(push.started_at, statement_timestamp()),
        claim_id = $1,
        claim_until = statement_timestamp() + $4::bigint * interval '1 millisecond',
        due_at = statement_timestamp() + $4::bigint * interval '1 millisecond'
    FROM fitting
    WHERE fitting.fits AND push.account = fitting.account AND push.message_id = fitting.message_id
    RETURNING push.account, push.message_id, push.generation, push.attempts, push.traceparent
)

SELECT
    fitting.account,
    fitting.message_id,
    claimed.generation,
    claimed.attempts AS number,
    claimed.traceparent,
    envelope.agent,
    envelope.callback_url,
    envelope.callback_scheme,
    envelope.credential_ref,
    envelope.run_id,
    envelope.ma2h_version,
    message.kind,
    message.status,
    message.resolution_id,
    message.actor,
    message.defaulted,
    message.detail,
    message.terminal_at,
    statement_timestamp() AS now,
    CASE WHEN fitting.fits THEN envelope.envelope END AS envelope
FROM fitting
INNER JOIN lifecycle.messages AS message
    ON fitting.account = message.account AND fitting.message_id = message.message_id
INNER JOIN lifecycle.envelopes AS envelope
    ON fitting.account = envelope.account AND fitting.message_id = envelope.message_id
LEFT JOIN claimed
    ON fitting.account = claimed.account AND fitting.message_id = claimed.message_id
ORDER BY fitting.account, fitting.message_id
