-- Ends the entries asked for, as far as their time is over (§13.3, §14.2). Whoever meets an overdue entry moves it by this
-- statement: the sweep, a read (design rule 2).
--
-- Decides, by this statement's clock: past its `drops_at` an entry that no drain had has expired; one that a drain had is
-- given to nobody any more, and can be acknowledged until its `kept_until`, past which it has bounced: seen, then orphaned. An
-- entry whose push was begun, and came to no outcome yet, is left alone for a while: should the webhook have taken it, it was
-- delivered in time, and `expired` means that it never was. The drain that has it keeps its claim: could it not hand it over,
-- it takes back the delivery (design rule 9).
--
-- Locks: the entries, by account and id. Indexes: the primary keys of entries, pushes, push_attempts.
WITH overdue AS (
    SELECT entry.account, entry.entry_id
    FROM lifecycle.tracks AS entry
    INNER JOIN unnest($1::text[], $2::text[]) AS asked (account, entry_id)
        ON entry.account = asked.account AND entry.entry_id = asked.entry_id
    WHERE
        entry.state IN ('queued', 'delivered')
        AND (
            (entry.visible_at < 'infinity' AND entry.drops_at < statement_timestamp())
            OR entry.kept_until < statement_timestamp()
        )
        AND NOT entry.awaits_outcome
    ORDER BY entry.account, entry.entry_id
    FOR UPDATE OF entry
),

moved AS (
    UPDATE lifecycle.entries AS entry
    SET
        state = CASE
            WHEN entry.state = 'queued' THEN 'expired'
            WHEN entry.kept_until < statement_timestamp() THEN 'bounced'
            ELSE entry.state
        END,
        prior = CASE
            WHEN entry.state <> 'queued' AND entry.kept_until < statement_timestamp() THEN entry.state
        END,
        ended_at = CASE
            WHEN entry.state = 'queued' OR entry.kept_until < statement_timestamp() THEN statement_timestamp()
        END,
        visible_at = 'infinity'
    FROM overdue
    WHERE entry.account = overdue.account AND entry.entry_id = overdue.entry_id
    RETURNING entry.account, entry.entry_id, entry.kind, entry.state, entry.ended_at IS NOT NULL AS ended
)

SELECT moved.account, moved.entry_id, moved.kind, moved.state
FROM moved
WHERE moved.ended
