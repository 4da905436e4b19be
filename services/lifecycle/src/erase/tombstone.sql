-- Tells who had submitted a message that was erased, and by which call it was.
--
-- Locks: none. Index: the primary key of tombstones.
SELECT tombstone.agent, tombstone.deletion_id
FROM lifecycle.tombstones AS tombstone
WHERE tombstone.account = $1 AND tombstone.message_id = $2
