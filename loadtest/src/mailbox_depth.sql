-- Fills the mailbox of agent $2 with $3 directives as if they came now, one each microsecond, and, where $4 says so, all had
-- been drained at once and were in flight for an hour. None came before there was such an agent: that would be another's.
WITH numbered AS MATERIALIZED (
    SELECT
        'dir_DEPTH' || upper(replace($2, '-', '')) || lpad(number::text, 9, '0') AS directive_id,
        statement_timestamp() + number * interval '1 microsecond' AS enqueued_at,
        statement_timestamp() + interval '1 hour' + number * interval '1 microsecond' AS flown_at
    FROM generate_series(1, $3::bigint) AS series (number)
),

directives AS (
    INSERT INTO lifecycle.directives (account, directive_id, agent, author, directive)
    SELECT
        $1, directive_id, $2, 'human:author',
        format(
            '{"ma2h_version":"0.6","type":"directive","id":"%s","from":"human:author","to":"agent:%s",'
            '"created_at":"2026-01-01T00:00:00Z","title":"One of many"}', directive_id, $2::text
        )
    FROM numbered
)

INSERT INTO lifecycle.entries (
    account, entry_id, agent, kind, lane, state, enqueued_at, visible_at, drops_at, kept_until, delivered_at, deliveries,
    claim_id, content_bytes
)
SELECT
    $1, directive_id, $2, 'directive', 'everyone',
    CASE WHEN $4::boolean THEN 'delivered' ELSE 'queued' END,
    enqueued_at,
    CASE WHEN $4::boolean THEN flown_at ELSE enqueued_at END,
    statement_timestamp() + interval '30 days',
    statement_timestamp() + interval '30 days',
    CASE WHEN $4::boolean THEN statement_timestamp() END,
    CASE WHEN $4::boolean THEN 1 ELSE 0 END,
    CASE WHEN $4::boolean THEN 'clm_' || directive_id END,
    200
FROM numbered
ORDER BY directive_id
