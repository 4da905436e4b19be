-- Drops a chunk of directives that ended longer than $2 seconds ago, whichever ended first, with their entries,
-- acknowledgements and the pushes of both; their broadcasts keep how they ended. So are keys of humans whose time is over
-- dropped. Of each, $4 are passed over. Looks $3 milliseconds back. `taken` tells whether there may be more.
--
-- What is held is found again by where it is, which is settled meanwhile. So are acknowledgements: none is ever changed.
--
-- Locks: the entries; those that others hold are passed over. Then the agents of their broadcasts.
-- Indexes: entries_kept, human_keys_over, broadcast_recipients_by_directive, the primary keys of entries, directives, acks,
-- pushes, push_attempts, human_keys.
WITH over AS MATERIALIZED (
    SELECT entry.ctid AS place
    FROM lifecycle.entries AS entry
    WHERE
        entry.ended_at IS NOT NULL
        AND entry.ended_at <= statement_timestamp() - $2::bigint * interval '1 second'
        AND entry.ended_at
        > statement_timestamp() - $2::bigint * interval '1 second' - $3::bigint * interval '1 millisecond'
    ORDER BY entry.ended_at
    LIMIT $1
    OFFSET $4
    FOR UPDATE SKIP LOCKED
),

entries AS (
    DELETE FROM lifecycle.entries AS entry
    USING over
    WHERE entry.ctid = over.place
    RETURNING entry.account, entry.entry_id, entry.kind, entry.state
),

recipients AS (
    UPDATE lifecycle.broadcast_recipients AS recipient
    SET state = entries.state
    FROM entries
    WHERE recipient.account = entries.account AND recipient.directive_id = entries.entry_id
),

directives AS (
    DELETE FROM lifecycle.directives AS directive
    USING entries
    WHERE directive.account = entries.account AND directive.directive_id = entries.entry_id
),

acks AS (
    DELETE FROM lifecycle.acks AS ack
    WHERE
        ack.ctid = ANY(
            ARRAY(
                SELECT known.place
                FROM entries
                CROSS JOIN LATERAL (
                    SELECT known.ctid AS place
                    FROM lifecycle.acks AS known
                    WHERE
                        known.account = entries.account
                        AND known.in_reply_to = entries.entry_id
                        AND known.leg = 'mailbox'
                    OFFSET 0
                ) AS known
            )
        )
    RETURNING ack.account, ack.ack_id
),

pushed AS (
    SELECT entries.account, entries.entry_id AS message_id
    FROM entries
    WHERE entries.kind = 'directive'
    UNION ALL
    SELECT acks.account, acks.ack_id
    FROM acks
    WHERE acks.ack_id IS NOT NULL
),

pushes AS (
    DELETE FROM lifecycle.pushes AS push
    USING pushed
    WHERE push.account = pushed.account AND push.message_id = pushed.message_id
),

attempts AS (
    DELETE FROM lifecycle.push_attempts AS attempt
    USING pushed
    WHERE attempt.account = pushed.account AND attempt.message_id = pushed.message_id
),

over_keys AS MATERIALIZED (
    SELECT known.ctid AS place
    FROM lifecycle.human_keys AS known
    WHERE
        known.expires_at <= statement_timestamp()
        AND known.expires_at > statement_timestamp() - $3::bigint * interval '1 millisecond'
    ORDER BY known.expires_at
    LIMIT $1
    OFFSET $4
    FOR UPDATE SKIP LOCKED
),

keys AS (
    DELETE FROM lifecycle.human_keys AS known
    USING over_keys
    WHERE known.ctid = over_keys.place
)

SELECT greatest((SELECT count(*) FROM over), (SELECT count(*) FROM over_keys)) AS taken
