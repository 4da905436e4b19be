-- Says from when on the retention of messages is counted for their next look. The transaction holds them.
--
-- Locks: none beyond those. Index: the primary key of messages.
UPDATE lifecycle.messages AS message
SET kept_from = kept.kept_from
FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS kept (account, message_id, kept_from)
WHERE message.account = kept.account AND message.message_id = kept.message_id
