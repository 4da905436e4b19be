-- One page of an account's messages, newest first, by keyset: $2 is the last id of the page before.
--
-- Sent unprepared, so that it is planned with its values: an absent filter falls away, and the planner takes the index
-- of the rarest one that is there. `overdue` rows are moved by the caller before anyone is told (design rule 2).
--
-- Locks: none.
-- Indexes: no filter, the primary keys; status, messages_by_status; the others, envelopes_by_agent, _by_kind,
-- _by_priority, _by_project, each in the order of the list; tag and title, envelopes_by_search_key, whose matches are
-- sorted.
SELECT
    message.message_id,
    message.kind,
    message.status,
    envelope.title,
    envelope.priority,
    envelope.tags,
    message.agent,
    envelope.run_id,
    envelope.project,
    envelope.mode,
    envelope.sensitive,
    message.accepted_at,
    message.expires_at,
    CASE WHEN message.resolution_id IS NOT NULL THEN message.terminal_at END AS resolved_at,
    message.actor,
    message.delivery_state,
    message.delivered_at,
    coalesce(message.status = 'open' AND message.expires_at < statement_timestamp(), false) AS overdue
FROM lifecycle.envelopes AS envelope
INNER JOIN lifecycle.messages AS message
    ON envelope.account = message.account AND envelope.message_id = message.message_id
WHERE
    envelope.account = $1
    AND message.account = $1
    AND ($2::text IS NULL OR (envelope.message_id < $2 AND message.message_id < $2))
    AND ($3::text IS NULL OR message.status = $3)
    AND ($4::text IS NULL OR envelope.kind = $4)
    AND ($5::text IS NULL OR envelope.priority = $5)
    AND ($6::text IS NULL OR envelope.agent = $6)
    AND ($7::text IS NULL OR envelope.project = $7)
    AND ($8::bigint[] IS NULL OR envelope.search_keys @> $8)
ORDER BY envelope.message_id DESC
LIMIT $9
