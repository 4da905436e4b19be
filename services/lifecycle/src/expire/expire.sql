-- Expires the messages asked for, as far as they are overdue, and makes their pushes owed. Whoever meets an overdue row
-- moves it by this statement: the sweep, a read, a resolve, a cancel (design rule 2).
--
-- Decides: the message is open and this statement began after its `expires_at`. The default was decided at submit.
--
-- Locks: the messages, by account and id. Indexes: the primary keys of messages and envelopes.
WITH asked AS (
    SELECT asked.account, asked.message_id, asked.resolution_id
    FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account, message_id, resolution_id)
),

overdue AS (
    SELECT message.account, message.message_id, asked.resolution_id
    FROM lifecycle.messages AS message
    INNER JOIN asked ON message.account = asked.account AND message.message_id = asked.message_id
    WHERE message.status = (SELECT 'open'::text) AND statement_timestamp() > message.expires_at
    ORDER BY message.account, message.message_id
    FOR UPDATE OF message
),

expired AS (
    UPDATE lifecycle.messages AS message
    SET
        status = 'expired',
        resolution_id = overdue.resolution_id,
        actor = envelope.expiry_actor,
        defaulted = envelope.expiry_defaulted,
        detail = envelope.expiry_detail,
        terminal_at = statement_timestamp()
    FROM overdue
    INNER JOIN lifecycle.envelopes AS envelope
        ON overdue.account = envelope.account AND overdue.message_id = envelope.message_id
    WHERE
        message.account = overdue.account
        AND message.message_id = overdue.message_id
        AND message.status = (SELECT 'open'::text)
        AND statement_timestamp() > message.expires_at
    RETURNING
        message.account,
        message.message_id,
        message.kind,
        envelope.callback_host,
        envelope.callback_url IS NOT NULL AS push_owed
),

owed AS (
    INSERT INTO lifecycle.pushes (
        account, message_id, host, state, generation, attempts, attempt_at, due_at, traceparent
    )
    SELECT
        expired.account,
        expired.message_id,
        expired.callback_host,
        'due',
        1,
        0,
        statement_timestamp(),
        statement_timestamp() + $4::bigint * interval '1 millisecond',
        $5
    FROM expired
    WHERE expired.push_owed
)

SELECT expired.account, expired.message_id, expired.kind, expired.push_owed
FROM expired
