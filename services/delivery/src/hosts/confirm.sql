-- The challenge was found: the host is verified, if that is still its challenge. No row: it was taken back, or registered
-- anew, while the hub looked. Locks the row. Index: callback_hosts_pkey.
UPDATE delivery.callback_hosts
SET status = 'verified', is_rechallenged = false
WHERE account = $1 AND agent = $2 AND host = $3 AND challenge = $4
RETURNING host, method, status, challenge, is_rechallenged;
