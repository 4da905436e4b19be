-- Claims of drains, each known from when it took entries or was ended: from then on it takes nothing more. Whoever repeats it,
-- however late, finds it by its key, which also makes one wait for the other.
CREATE TABLE lifecycle.claims (
    account  text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    known_at timestamptz      NOT NULL,
    PRIMARY KEY (account, claim_id)
)
WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);

-- What is old enough to be forgotten, over all accounts.
CREATE INDEX claims_over ON lifecycle.claims (known_at);

-- An entry that bounced keeps its claim, so that a drain which could not hand it over corrects where it was.
ALTER TABLE lifecycle.entries DROP CONSTRAINT entries_claimed;
ALTER TABLE lifecycle.entries
    ADD CONSTRAINT entries_claimed CHECK (claim_id IS NULL OR ended_at IS NULL OR state = 'bounced');

ALTER TABLE lifecycle.pushes
    -- Until when an attempt of an earlier generation may be under way: a redelivery replaced its claim.
    ADD COLUMN replaced_until timestamptz;

-- Directives an attempt of whose push was begun, and whose outcome is not known: they may have been delivered by it.
CREATE VIEW lifecycle.unsettled_directives AS
SELECT push.account, push.message_id, push.claim_until
FROM lifecycle.pushes AS push
LEFT JOIN lifecycle.push_attempts AS attempt
    ON
        push.account = attempt.account
        AND push.message_id = attempt.message_id
        AND push.generation = attempt.generation
        AND push.attempts = attempt.number
WHERE
    push.kind = 'directive'
    AND push.attempts > 0
    AND (attempt.number IS NULL OR attempt.error = 'no_outcome');

-- Of these, those that no drain had either: for a while after their time was over, they do not expire.
CREATE VIEW lifecycle.awaited_directives AS
SELECT entry.account, entry.entry_id
FROM lifecycle.entries AS entry
INNER JOIN lifecycle.unsettled_directives AS push ON entry.account = push.account AND entry.entry_id = push.message_id
WHERE entry.state = 'queued' AND entry.drops_at > statement_timestamp() - interval '90 seconds';
