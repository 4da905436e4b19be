-- Claims pushes that may be attempted now, each until its lease ends, and counts the attempt (design rule 5).
--
-- Decides, of pushes that are due, whose pause is over and on which no other claim is live:
--   claimed   also where this very claim holds it already, its reply lost: it gets it again under the same number;
--   held      nothing is sent to its host now. When one may look whether the host is back, one is claimed and the others
--             of the account are held. Also what a host has no room for that is stuck ($12): passed round and round it
--             would cost all the others;
--   deferred  the worker has no more room for its host ($6, $7; $8 for every other host): due again after a pause that
--             doubles from $9 up to $10 milliseconds each time, with jitter;
--   ended     nothing is left to push, or nowhere to push it to: the directive has ended, its agent was deleted, the webhook is
--             gone. Also a directive that may expire while it is pushed: `expired` must mean that it was never delivered;
--   exhausted its $11 attempts were begun, and no outcome of the last one came: its worker died in it, or could not make it;
--             or its $13 milliseconds are over, the hub having been away: nothing is tried beyond what is advertised (§8.3).
--             Neither counts what was held, nor a look at a paused host;
--   crowded   it does not fit into the $5 bytes of the reply, which has at least one push: nothing changes.
-- `due_at` of a claimed one becomes the end of the lease: if the outcome never comes, the relay publishes the job then.
--
-- Where a directive or an acknowledgement goes is asked anew at each claim.
--
-- A claim whose caller has gone runs out, and its pushes are tried again. An attempt of each was counted that was not made:
-- told from one that was made and died with its worker it cannot be, and to count it tries a push once too seldom, not for ever.
--
-- Locks: the pushes, by account and id; those that others hold are passed over.
-- Indexes: acks_pushed; the primary keys of pushes, push_attempts, messages, envelopes, directives, entries, closed_mailboxes,
-- delivery.webhooks, delivery.callback_hosts, delivery.host_health.
WITH asked AS (
    SELECT DISTINCT job.account, job.message_id
    FROM unnest($2::text[], $3::text[]) AS job (account, message_id)
),

due AS MATERIALIZED (
    SELECT
        push.account,
        push.message_id,
        push.kind,
        CASE push.kind WHEN 'response' THEN push.host ELSE webhook.host END AS host,
        CASE push.kind WHEN 'directive' THEN directive.agent WHEN 'ack' THEN '' END AS webhook,
        coalesce(envelope.agent, directive.agent, '') AS agent,
        coalesce(envelope.callback_url, webhook.url) AS url,
        coalesce(envelope.callback_scheme, webhook.scheme) AS scheme,
        coalesce(envelope.credential_ref, webhook.credential_ref) AS credential_ref,
        coalesce(push.claim_id = $1, false) AS is_repeated,
        CASE push.kind
            WHEN 'response' THEN envelope.message_id IS NULL
            WHEN 'directive'
                THEN
                    webhook.url IS NULL
                    OR entry.entry_id IS NULL
                    OR entry.ended_at IS NOT NULL
                    OR entry.drops_at < statement_timestamp() + $4::bigint * interval '1 millisecond'
                    OR coalesce(entry.enqueued_at <= mailbox.closed_at, false)
            ELSE webhook.url IS NULL OR ack.ack_id IS NULL
        END AS is_over,
        push.claim_id IS DISTINCT FROM $1
        AND (
            push.attempts - push.probes >= $11::integer
            OR coalesce(
                statement_timestamp() - push.started_at > $13::bigint * interval '1 millisecond',
                false
            )
        ) AS is_spent,
        least($9::bigint * power(2, least(push.deferrals, 30)), $10::bigint) * (0.5 + random() / 2) AS pause_ms,
        coalesce(
            octet_length(envelope.envelope) + octet_length(message.detail),
            octet_length(directive.directive),
            octet_length(ack.note),
            0
        ) AS size_bytes
    FROM lifecycle.pushes AS push
    INNER JOIN asked ON push.account = asked.account AND push.message_id = asked.message_id
    LEFT JOIN lifecycle.messages AS message
        ON push.kind = 'response' AND push.account = message.account AND push.message_id = message.message_id
    LEFT JOIN lifecycle.envelopes AS envelope
        ON push.kind = 'response' AND push.account = envelope.account AND push.message_id = envelope.message_id
    LEFT JOIN lifecycle.directives AS directive
        ON push.kind = 'directive' AND push.account = directive.account AND push.message_id = directive.directive_id
    LEFT JOIN lifecycle.entries AS entry
        ON push.kind = 'directive' AND push.account = entry.account AND push.message_id = entry.entry_id
    LEFT JOIN lifecycle.closed_mailboxes AS mailbox
        ON directive.account = mailbox.account AND directive.agent = mailbox.agent
    LEFT JOIN LATERAL (
        SELECT ack.ack_id, ack.note
        FROM lifecycle.acks AS ack
        WHERE push.kind = 'ack' AND push.account = ack.account AND push.message_id = ack.ack_id
        OFFSET 0
    ) AS ack ON true
    LEFT JOIN delivery.webhooks_v1 AS webhook
        ON
            push.account = webhook.account
            AND webhook.agent = CASE push.kind WHEN 'directive' THEN directive.agent WHEN 'ack' THEN '' END
    WHERE
        push.state = (SELECT 'due'::text)
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

ranked AS (
    SELECT
        due.account,
        due.message_id,
        due.is_repeated,
        hold.probe_at,
        room.pushes AS room,
        coalesce(room.is_stuck, false) AS is_stuck,
        row_number() OVER (PARTITION BY due.account, due.host ORDER BY due.message_id) AS number_of_account,
        row_number() OVER (PARTITION BY due.host ORDER BY due.account, due.message_id) AS number_of_host
    FROM due
    LEFT JOIN delivery.host_holds_v1 AS hold ON due.account = hold.account AND due.host = hold.host
    LEFT JOIN
        unnest($6::text[], $7::bigint[], $12::boolean[]) AS room (host, pushes, is_stuck)
        ON due.host = room.host
    WHERE NOT due.is_over AND NOT due.is_spent
),

judged AS MATERIALIZED (
    SELECT
        ranked.account,
        ranked.message_id,
        CASE
            WHEN ranked.is_repeated THEN 'claimed'
            WHEN ranked.probe_at > statement_timestamp() THEN 'held'
            WHEN ranked.probe_at IS NOT NULL AND ranked.number_of_account > 1 THEN 'held'
            WHEN ranked.number_of_host <= coalesce(ranked.room, $8::bigint) THEN 'claimed'
            WHEN ranked.is_stuck THEN 'held'
            ELSE 'deferred'
        END AS verdict
    FROM ranked
    UNION ALL
    SELECT due.account, due.message_id, CASE WHEN due.is_over THEN 'ended' ELSE 'exhausted' END
    FROM due
    WHERE due.is_over OR due.is_spent
),

fitting AS MATERIALIZED (
    SELECT
        due.account,
        due.message_id,
        due.host,
        coalesce(sum(due.size_bytes) OVER earlier, 0) = 0 OR sum(due.size_bytes) OVER through <= $5::bigint AS fits
    FROM due
    INNER JOIN judged ON due.account = judged.account AND due.message_id = judged.message_id
    WHERE judged.verdict = 'claimed'
    WINDOW
        through AS (ORDER BY due.account, due.message_id ROWS UNBOUNDED PRECEDING),
        earlier AS (
            ORDER BY due.account, due.message_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

claimed AS (
    UPDATE lifecycle.pushes AS push
    SET
        host = coalesce(fitting.host, push.host),
        attempts = CASE WHEN push.claim_id = $1 THEN push.attempts ELSE push.attempts + 1 END,
        started_at = coalesce(push.started_at, statement_timestamp()),
        claim_id = $1,
        claim_until = statement_timestamp() + $4::bigint * interval '1 millisecond',
        due_at = statement_timestamp() + $4::bigint * interval '1 millisecond'
    FROM fitting
    WHERE fitting.fits AND push.account = fitting.account AND push.message_id = fitting.message_id
    RETURNING push.account, push.message_id, push.generation, push.attempts, push.traceparent
),

put_back AS (
    UPDATE lifecycle.pushes AS push
    SET
        state = CASE judged.verdict WHEN 'deferred' THEN 'due' ELSE judged.verdict END,
        host = coalesce(due.host, push.host),
        webhook = due.webhook,
        held_at = CASE judged.verdict WHEN 'held' THEN statement_timestamp() END,
        deferrals = CASE judged.verdict WHEN 'deferred' THEN push.deferrals + 1 ELSE 0 END,
        attempt_at = statement_timestamp() + due.pause_ms * interval '1 millisecond',
        due_at = statement_timestamp() + due.pause_ms * interval '1 millisecond',
        claim_id = NULL,
        claim_until = NULL
    FROM judged
    INNER JOIN due ON judged.account = due.account AND judged.message_id = due.message_id
    WHERE
        judged.verdict IN ('held', 'deferred', 'ended', 'exhausted')
        AND push.account = judged.account
        AND push.message_id = judged.message_id
    RETURNING push.account, push.message_id, push.state, push.generation, push.attempts
),

given_up AS (
    INSERT INTO lifecycle.push_attempts (account, message_id, generation, number, at, outcome, error, duration_ms)
    SELECT
        put_back.account, put_back.message_id, put_back.generation, put_back.attempts, statement_timestamp(), 'exhausted',
        'no_outcome', 0
    FROM put_back
    WHERE put_back.state = 'exhausted'
    -- It has one where its time is over, or fewer attempts are allowed by now than were when it was made.
    ON CONFLICT DO NOTHING
)

SELECT
    judged.account,
    judged.message_id,
    claimed.generation,
    claimed.attempts AS number,
    claimed.traceparent,
    due.kind AS push_kind,
    due.agent,
    due.url,
    due.scheme,
    due.credential_ref,
    envelope.run_id,
    envelope.ma2h_version,
    message.kind,
    message.status,
    message.resolution_id,
    message.actor,
    message.defaulted,
    message.detail,
    message.terminal_at,
    envelope.envelope,
    directive.directive,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id,
    statement_timestamp() AS now,
    CASE WHEN judged.verdict = 'claimed' AND NOT fitting.fits THEN 'crowded' ELSE judged.verdict END AS verdict
FROM judged
INNER JOIN due ON judged.account = due.account AND judged.message_id = due.message_id
LEFT JOIN fitting
    ON judged.account = fitting.account AND judged.message_id = fitting.message_id
LEFT JOIN claimed
    ON judged.account = claimed.account AND judged.message_id = claimed.message_id
LEFT JOIN lifecycle.messages AS message
    ON due.kind = 'response' AND claimed.account = message.account AND claimed.message_id = message.message_id
LEFT JOIN lifecycle.envelopes AS envelope
    ON due.kind = 'response' AND claimed.account = envelope.account AND claimed.message_id = envelope.message_id
LEFT JOIN lifecycle.directives AS directive
    ON due.kind = 'directive' AND claimed.account = directive.account AND claimed.message_id = directive.directive_id
LEFT JOIN LATERAL (
    SELECT ack.*
    FROM lifecycle.acks AS ack
    WHERE due.kind = 'ack' AND claimed.account = ack.account AND claimed.message_id = ack.ack_id
    OFFSET 0
) AS ack ON true
ORDER BY judged.account, judged.message_id
