-- Ends one browser session. Locks: its row. Served by browser_sessions_by_hash.
DELETE FROM directory.browser_sessions
WHERE session_hash = $1
RETURNING account
