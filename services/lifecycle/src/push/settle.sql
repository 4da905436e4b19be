-- Settles claimed pushes: attempt, obligation and the message's response track in one statement (design rule 5).
--
-- Decides: the claim, the generation and the attempt are still the ones that were given out. An outcome that comes too late
-- matches nothing and changes nothing, but one: that it was delivered is evidence however late it comes, of any attempt of
-- this generation, and ends the push whoever has claimed it meanwhile (design rule 9). A deferred push was not attempted, so
-- its attempt is taken back. A probe that failed is kept as an attempt, and counted as one that counts toward no cap; nor
-- does its time, and the pause after it. A
-- directive that was delivered is so by one more delivery, as by a drain's; it stays where it is in its mailbox.
--
-- Locks: the pushes, by account and id; then, of those delivered, the entries by account and id, and the messages, which
-- nobody locks before their pushes. Indexes: the primary keys of pushes, push_attempts, entries, messages.
WITH outcome AS (
    SELECT
        outcome.account,
        outcome.message_id,
        outcome.generation,
        outcome.number,
        outcome.kind,
        outcome.pause_ms,
        outcome.status,
        outcome.error,
        outcome.duration_ms,
        outcome.is_probe,
        outcome.address_class
    FROM
        unnest(
            $2::text[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::bigint[], $8::integer[], $9::text[],
            $10::integer[], $11::boolean[], $12::text[]
        ) AS outcome (
            account, message_id, generation, number, kind, pause_ms, status, error, duration_ms, is_probe, address_class
        )
),

held AS (
    SELECT push.account, push.message_id
    FROM lifecycle.pushes AS push
    INNER JOIN outcome ON push.account = outcome.account AND push.message_id = outcome.message_id
    WHERE
        push.generation = outcome.generation
        AND (
            (push.state = 'due' AND push.claim_id = $1 AND push.attempts = outcome.number)
            OR (outcome.kind = 'delivered' AND push.state NOT IN ('delivered', 'expired') AND push.attempts >= outcome.number)
        )
    ORDER BY push.account, push.message_id
    FOR UPDATE OF push
),

settled AS (
    UPDATE lifecycle.pushes AS push
    SET
        state = CASE WHEN outcome.kind IN ('retry', 'deferred') THEN 'due' ELSE outcome.kind END,
        attempts = CASE WHEN outcome.kind = 'deferred' THEN push.attempts - 1 ELSE push.attempts END,
        deferrals = CASE WHEN outcome.kind = 'deferred' THEN push.deferrals + 1 ELSE 0 END,
        probes = CASE WHEN outcome.is_probe AND outcome.kind = 'retry' THEN push.probes + 1 ELSE push.probes END,
        started_at = CASE
            WHEN outcome.kind = 'deferred' AND push.attempts = 1 THEN NULL
            WHEN outcome.kind = 'retry' AND outcome.is_probe
                THEN push.started_at + (outcome.duration_ms + outcome.pause_ms) * interval '1 millisecond'
            ELSE push.started_at
        END,
        attempt_at = statement_timestamp() + outcome.pause_ms * interval '1 millisecond',
        due_at = statement_timestamp() + outcome.pause_ms * interval '1 millisecond',
        claim_id = NULL,
        claim_until = NULL
    FROM held
    INNER JOIN outcome ON held.account = outcome.account AND held.message_id = outcome.message_id
    WHERE push.account = held.account AND push.message_id = held.message_id
    RETURNING
        push.account,
        push.message_id,
        push.kind AS pushed,
        push.generation,
        outcome.number,
        outcome.kind,
        outcome.status,
        outcome.error,
        outcome.duration_ms,
        outcome.address_class,
        push.attempt_at
),

recorded AS (
    INSERT INTO lifecycle.push_attempts (
        account, message_id, generation, number, at, outcome, status, error, duration_ms, address_class, next_attempt_at
    )
    SELECT
        settled.account,
        settled.message_id,
        settled.generation,
        settled.number,
        statement_timestamp() - settled.duration_ms * interval '1 millisecond',
        settled.kind,
        settled.status,
        settled.error,
        settled.duration_ms,
        settled.address_class,
        CASE WHEN settled.kind = 'retry' THEN settled.attempt_at END
    FROM settled
    WHERE settled.kind <> 'deferred'
    -- That no outcome of it came was said too early.
    ON CONFLICT (account, message_id, generation, number) DO UPDATE
        SET
            at = excluded.at,
            outcome = excluded.outcome,
            status = excluded.status,
            error = excluded.error,
            duration_ms = excluded.duration_ms,
            address_class = excluded.address_class,
            next_attempt_at = excluded.next_attempt_at
),

stamped AS (
    UPDATE lifecycle.messages AS message
    SET delivery_state = 'delivered-to-agent', delivered_at = statement_timestamp()
    FROM settled
    WHERE
        settled.kind = 'delivered'
        AND settled.pushed = 'response'
        AND message.account = settled.account
        AND message.message_id = settled.message_id
        AND message.delivery_state IS NULL
    RETURNING message.account, message.message_id
),

reached AS (
    SELECT entry.account, entry.entry_id
    FROM lifecycle.entries AS entry
    INNER JOIN settled ON entry.account = settled.account AND entry.entry_id = settled.message_id
    WHERE settled.kind = 'delivered' AND settled.pushed = 'directive' AND entry.state IN ('queued', 'delivered')
    ORDER BY entry.account, entry.entry_id
    FOR UPDATE OF entry
),

handed AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = 'delivered',
        delivered_at = coalesce(entry.delivered_at, statement_timestamp()),
        deliveries = entry.deliveries + 1
    FROM reached
    WHERE entry.account = reached.account AND entry.entry_id = reached.entry_id AND entry.state IN ('queued', 'delivered')
    RETURNING entry.account, entry.entry_id, entry.deliveries = 1 AS is_first
)

SELECT
    settled.account,
    settled.message_id,
    settled.pushed,
    settled.kind,
    stamped.message_id IS NOT NULL OR coalesce(handed.is_first, false) AS stamped
FROM settled
LEFT JOIN stamped ON settled.account = stamped.account AND settled.message_id = stamped.message_id
LEFT JOIN handed ON settled.account = handed.account AND settled.message_id = handed.entry_id
