-- Takes a chunk of ended messages whose time for a look has come, whichever came first, for the length of its
-- transaction, and says what becomes of each (§8.2, §14.2, design rule 12).
--
-- Looks $4 milliseconds back, and passes the first $5 over. `found` is how many there were, whether they could be taken or not;
-- always a row.
--
-- Decides: a message is kept as long as its account asks, at least for the deployment's retention of $1 seconds, from its
-- terminal on. Then the response track of an ask or task that the agent has not got ends as expired (`close`; before
-- minor 5 the track knows no such end). After the grace of $2 seconds the message is erased. Until then it is kept, and
-- `kept_from` says from when on. A push under a live claim is left alone: its outcome comes first.
--
-- Locks: the pushes, then the messages, neither waited for: what others hold is passed over, so that replicas share the
-- work. Indexes: messages_kept, the primary keys of pushes, messages, envelopes, directory.accounts.
WITH over AS MATERIALIZED (
    SELECT message.account, message.message_id
    FROM lifecycle.messages AS message
    WHERE
        message.terminal_at IS NOT NULL
        AND coalesce(message.kept_from, message.terminal_at)
        <= statement_timestamp() - $1::bigint * interval '1 second'
        AND coalesce(message.kept_from, message.terminal_at)
        > statement_timestamp() - $1::bigint * interval '1 second' - $4::bigint * interval '1 millisecond'
    ORDER BY coalesce(message.kept_from, message.terminal_at)
    LIMIT $3 OFFSET $5
),

quiet AS MATERIALIZED (
    SELECT push.account, push.message_id
    FROM lifecycle.pushes AS push
    INNER JOIN over ON push.account = over.account AND push.message_id = over.message_id
    WHERE push.claim_until IS NULL OR push.claim_until < statement_timestamp()
    FOR UPDATE OF push SKIP LOCKED
),

ready AS MATERIALIZED (
    SELECT quiet.account, quiet.message_id
    FROM quiet
    UNION ALL
    SELECT over.account, over.message_id
    FROM over
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM lifecycle.pushes AS push
            WHERE push.account = over.account AND push.message_id = over.message_id
            OFFSET 0
        )
),

taken AS MATERIALIZED (
    SELECT message.account, message.message_id, message.terminal_at, message.resolution_id, message.delivery_state
    FROM lifecycle.messages AS message
    INNER JOIN ready ON message.account = ready.account AND message.message_id = ready.message_id
    WHERE
        coalesce(message.kept_from, message.terminal_at)
        <= statement_timestamp() - $1::bigint * interval '1 second'
    FOR UPDATE OF message SKIP LOCKED
)

SELECT
    taken.account,
    taken.message_id,
    (SELECT count(*) FROM over) AS found,
    CASE
        WHEN taken.message_id IS NULL THEN NULL
        WHEN times.over_at > statement_timestamp() THEN 'keep'
        WHEN times.gone_at <= statement_timestamp() THEN 'erase'
        WHEN
            taken.resolution_id IS NOT NULL
            AND taken.delivery_state IS NULL
            AND split_part(envelope.ma2h_version, '.', 2)::bigint >= 5
            THEN 'close'
        ELSE 'keep'
    END AS verdict,
    CASE WHEN times.over_at > statement_timestamp() THEN times.over_at ELSE times.gone_at END
    - $1::bigint * interval '1 second' AS kept_from
FROM (VALUES (1)) AS one
LEFT JOIN taken ON true
LEFT JOIN lifecycle.envelopes AS envelope
    ON taken.account = envelope.account AND taken.message_id = envelope.message_id
LEFT JOIN directory.accounts_v1 AS known ON taken.account = known.account
CROSS JOIN LATERAL (
    SELECT greatest($1::bigint, known.retention_days * 86400) * interval '1 second' AS kept_for
) AS retention
CROSS JOIN LATERAL (
    SELECT
        taken.terminal_at + retention.kept_for AS over_at,
        taken.terminal_at + retention.kept_for + $2::bigint * interval '1 second' AS gone_at
) AS times
