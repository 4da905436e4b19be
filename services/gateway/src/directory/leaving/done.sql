-- Drops what was forgotten, unless it was deleted once more meanwhile.
-- Locks: its row. Served by leaving_pkey.
DELETE FROM directory.leaving
WHERE account = $1
    AND agent = $2
    AND due_at = $3
