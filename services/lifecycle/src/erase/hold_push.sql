-- Holds the push of a message that is about to be erased, before the message, as a settlement does.
--
-- Locks: the push. Index: the primary key of pushes.
SELECT push.message_id
FROM lifecycle.pushes AS push
WHERE push.account = $1 AND push.message_id = $2
FOR UPDATE
