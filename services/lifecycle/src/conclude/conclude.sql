-- Resolves or cancels an open message, and makes its push owed: the first terminal wins (§7).
--
-- Decides: the message is open and not overdue; at or before `expires_at` an answer wins (design rule 2). No row: it
-- is terminal, overdue or unknown, and the caller looks. The job of the push is published after the commit; the relay
-- does so only if it is lost, hence `due_at` (design rule 5).
--
-- Locks: the message. Indexes: the primary keys of messages and envelopes.
WITH concluded AS (
    UPDATE lifecycle.messages
    SET status = $3, resolution_id = $4, actor = $5, detail = $6, terminal_at = statement_timestamp()
    WHERE
        account = $1
        AND message_id = $2
        AND status = 'open'
        AND (expires_at IS NULL OR statement_timestamp() <= expires_at)
    RETURNING account, message_id
),

owed AS (
    INSERT INTO lifecycle.pushes (
        account, message_id, host, state, generation, attempts, attempt_at, due_at, traceparent
    )
    SELECT
        concluded.account,
        concluded.message_id,
        envelope.callback_host,
        'due',
        1,
        0,
        statement_timestamp(),
        statement_timestamp() + $7::bigint * interval '1 millisecond',
        $8
    FROM concluded
    INNER JOIN lifecycle.envelopes AS envelope
        ON concluded.account = envelope.account AND concluded.message_id = envelope.message_id
    WHERE envelope.callback_url IS NOT NULL
    RETURNING message_id
)

SELECT EXISTS (SELECT 1 FROM owed) AS push_owed
FROM concluded
