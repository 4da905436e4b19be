-- Ends a chunk of what lies in closed mailboxes: it has bounced, from where it was. A directive whose first delivery is being
-- attempted by a push is left alone, until the outcome says where it was, or none has come for long. The drain that has one
-- keeps its claim, and corrects where it was if it could not hand it over (design rule 9). A mark stays for a minute beyond
-- what it is needed for: an entry that was being written when the mailbox was closed is found by it. Of the entries $3 are
-- passed over. Looks $2 milliseconds back, more than that minute. Marks under which nothing lies are passed over until they
-- go, so that they keep none from its turn.
--
-- What is held is found again by where it is, which is settled meanwhile: a plan made while nothing seems to wait would
-- otherwise go through all that an old snapshot keeps of it.
--
-- Locks: the marks, then the entries; those that others hold are passed over, so that replicas share the work. Indexes:
-- closed_mailboxes_oldest, entries_waiting, the primary keys of closed_mailboxes, entries, pushes, push_attempts.
WITH closed AS MATERIALIZED (
    SELECT mailbox.ctid AS place, mailbox.account, mailbox.agent, mailbox.closed_at
    FROM lifecycle.closed_mailboxes AS mailbox
    WHERE
        mailbox.closed_at > statement_timestamp() - $2::bigint * interval '1 millisecond'
        AND (
            mailbox.closed_at < statement_timestamp() - interval '1 minute'
            OR EXISTS (
                SELECT 1
                FROM lifecycle.entries AS entry
                WHERE
                    entry.account = mailbox.account
                    AND entry.agent = mailbox.agent
                    AND entry.ended_at IS NULL
                    AND entry.enqueued_at <= mailbox.closed_at
                OFFSET 0
            )
        )
    ORDER BY mailbox.closed_at
    LIMIT 500
    FOR UPDATE SKIP LOCKED
),

lying AS MATERIALIZED (
    SELECT entry.place
    FROM closed
    CROSS JOIN LATERAL (
        SELECT waiting.ctid AS place
        FROM lifecycle.entries AS waiting
        WHERE
            waiting.account = closed.account
            AND waiting.agent = closed.agent
            AND waiting.ended_at IS NULL
            AND waiting.enqueued_at <= closed.closed_at
            AND NOT (
                waiting.state = 'queued'
                AND EXISTS (
                    SELECT 1
                    FROM lifecycle.unsettled_directives AS push
                    WHERE
                        push.account = waiting.account
                        AND push.message_id = waiting.entry_id
                        AND greatest(push.claim_until, closed.closed_at) > statement_timestamp() - interval '90 seconds'
                    OFFSET 0
                )
            )
        LIMIT $1::bigint + $3::bigint
        FOR UPDATE SKIP LOCKED
    ) AS entry
    LIMIT $1
    OFFSET $3
),

bounced AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = 'bounced',
        prior = entry.state,
        ended_at = statement_timestamp(),
        visible_at = 'infinity'
    FROM lying
    WHERE entry.ctid = lying.place
    RETURNING entry.account, entry.entry_id, entry.kind, entry.state
),

emptied AS (
    DELETE FROM lifecycle.closed_mailboxes AS mailbox
    USING closed
    WHERE
        mailbox.ctid = closed.place
        AND closed.closed_at < statement_timestamp() - interval '1 minute'
        AND NOT EXISTS (
            SELECT 1
            FROM lifecycle.entries AS entry
            WHERE
                entry.account = closed.account
                AND entry.agent = closed.agent
                AND entry.ended_at IS NULL
                AND entry.enqueued_at <= closed.closed_at
            OFFSET 0
        )
)

SELECT bounced.account, bounced.entry_id, bounced.kind, bounced.state
FROM bounced
