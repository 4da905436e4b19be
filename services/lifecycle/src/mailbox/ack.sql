-- Consumes entries of an agent's mailbox, whichever its drains had, and acknowledges what they brought (§8.7.1): the first
-- acknowledgement stands.
--
-- Decides: the entry is in this mailbox, not ended, and not overdue by this statement's clock. To acknowledge what was
-- never drained is evidence of its own: it came some other way.
--
-- Sent unprepared, so that it is planned for as many as there are.
--
-- Locks: the entries, by id. Indexes: the primary keys of entries, acks.
WITH mine AS (
    SELECT entry.entry_id
    FROM lifecycle.entries AS entry
    WHERE
        entry.account = $1
        AND entry.entry_id = ANY($3::text[])
        AND entry.agent = $2
        AND entry.ended_at IS NULL
        AND CASE WHEN entry.state = 'queued' THEN entry.drops_at ELSE entry.kept_until END >= statement_timestamp()
    ORDER BY entry.entry_id
    FOR UPDATE
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
    RETURNING entry.entry_id, entry.kind
),

noted AS (
    INSERT INTO lifecycle.acks (account, in_reply_to, leg, ma2h_version, by, acked_at, note)
    SELECT $1, acked.entry_id, 'mailbox', $5, $4, statement_timestamp(), $6
    FROM acked
    WHERE acked.kind IN ('directive', 'message')
    ON CONFLICT DO NOTHING
)

SELECT acked.entry_id, acked.kind
FROM acked
