-- One page of an account's directives, newest first, by keyset: $2 is the last id of the page before. $4 directives are looked
-- at, and of those whose track is in the state $6, if one is asked for, $7 are shown; what is overdue counts as what it is about
-- to become. The page ends where its content is more than $5 bytes, but not before the first. `found` says how many there
-- were to show, `looked` and `last_looked` how far was looked. Where nothing is shown there is one row, of these three.
--
-- Sent unprepared, so that it is planned with its values.
--
-- Locks: none. Indexes: the primary keys of directives, entries, acks, pushes, push_attempts; directives_by_agent where one
-- agent's are asked for.
WITH known AS MATERIALIZED (
    SELECT directive.account, directive.directive_id
    FROM lifecycle.directives AS directive
    WHERE
        directive.account = $1
        AND ($2::text IS NULL OR directive.directive_id < $2)
        AND ($3::text IS NULL OR directive.agent = $3)
    ORDER BY directive.directive_id DESC
    LIMIT $4
),

page AS MATERIALIZED (
    SELECT
        track.account,
        track.entry_id,
        track.state,
        track.delivered_at,
        track.ended_at,
        track.prior,
        track.overdue,
        sum(track.content_bytes) OVER newest_first AS bytes,
        row_number() OVER newest_first AS number
    FROM known
    INNER JOIN lifecycle.tracks AS track
        ON known.account = track.account AND known.directive_id = track.entry_id
    WHERE
        $6::text IS NULL
        OR $6 = CASE
            WHEN NOT track.overdue THEN track.state
            WHEN track.state = 'queued' THEN 'expired'
            ELSE 'bounced'
        END
    WINDOW newest_first AS (ORDER BY track.entry_id DESC)
)

SELECT
    directive.directive_id,
    directive.agent,
    directive.directive,
    page.state,
    page.delivered_at,
    page.ended_at,
    page.prior,
    page.overdue,
    ack.in_reply_to,
    ack.ma2h_version AS ack_version,
    ack.by AS acked_by,
    ack.acked_at,
    ack.note,
    ack.resolution_id AS acked_resolution_id,
    (SELECT count(*) FROM page) AS found,
    reach.looked,
    reach.last_looked
FROM (
    SELECT
        count(*) AS looked,
        min(known.directive_id) AS last_looked
    FROM known
) AS reach
LEFT JOIN page
    ON page.number <= $7 AND (page.number = 1 OR page.bytes <= $5)
LEFT JOIN lifecycle.directives AS directive
    ON page.account = directive.account AND page.entry_id = directive.directive_id
LEFT JOIN lifecycle.acks AS ack
    ON page.account = ack.account AND page.entry_id = ack.in_reply_to AND ack.leg = 'mailbox'
ORDER BY page.number
