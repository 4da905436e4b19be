-- Consumes entries of an agent's mailbox, whichever its drains had, and acknowledges what they brought (§8.7.1): the first
-- acknowledgement stands.
--
-- Decides: the entry is in this mailbox and came after it was last closed, is not ended, and not overdue by this statement's
-- clock. To acknowledge what was never drained is evidence of its own: it came some other way. Where the account has a webhook for acknowledgements, a push of
-- each directive's is owed from now on (§14.4), as $7 has its id beside the entry's.
--
-- Sent unprepared, so that it is planned for as many as there are.
--
-- Locks: the entries, by id. Indexes: the primary keys of entries, closed_mailboxes, acks, pushes, delivery.webhooks, delivery.callback_hosts.
WITH mine AS (
    SELECT entry.entry_id, asked.ack_id
    FROM lifecycle.entries AS entry
    INNER JOIN unnest($3::text[], $7::text[]) AS asked (entry_id, ack_id) ON entry.entry_id = asked.entry_id
    WHERE
        entry.account = $1
        AND entry.agent = $2
        AND entry.state IN ('queued', 'delivered')
        AND NOT EXISTS (
            SELECT 1
            FROM lifecycle.closed_mailboxes AS mailbox
            WHERE mailbox.account = $1 AND mailbox.agent = $2 AND mailbox.closed_at >= entry.enqueued_at
        )
        AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END >= statement_timestamp()
    ORDER BY entry.entry_id
    FOR UPDATE OF entry
),

acked AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = 'acknowledged',
        delivered_at = coalesce(entry.delivered_at, statement_timestamp()),
        ended_at = statement_timestamp(),
        claim_id = NULL
    FROM mine
    WHERE entry.account = $1 AND entry.entry_id = mine.entry_id
    RETURNING entry.entry_id, entry.kind, mine.ack_id
),

webhook AS MATERIALIZED (
    SELECT hook.host
    FROM delivery.webhooks_v1 AS hook
    WHERE hook.account = $1 AND hook.agent = ''
),

noted AS (
    INSERT INTO lifecycle.acks (account, in_reply_to, leg, ma2h_version, by, acked_at, note, ack_id)
    SELECT
        $1, acked.entry_id, 'mailbox', $5, $4, statement_timestamp(), $6,
        CASE WHEN acked.kind = 'directive' AND EXISTS (SELECT 1 FROM webhook) THEN acked.ack_id END
    FROM acked
    WHERE acked.kind IN ('directive', 'message')
    ON CONFLICT DO NOTHING
    RETURNING in_reply_to, ack_id
),

owed AS (
    INSERT INTO lifecycle.pushes (
        account, message_id, kind, host, state, generation, attempts, attempt_at, due_at, traceparent
    )
    SELECT
        $1, noted.ack_id, 'ack', webhook.host, 'due', 1, 0, statement_timestamp(),
        statement_timestamp() + $8::bigint * interval '1 millisecond', $9
    FROM noted
    CROSS JOIN webhook
    WHERE noted.ack_id IS NOT NULL
)

SELECT acked.entry_id, acked.kind, noted.ack_id
FROM acked
LEFT JOIN noted ON acked.entry_id = noted.in_reply_to
