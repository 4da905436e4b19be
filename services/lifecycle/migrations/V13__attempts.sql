-- What else is kept of an attempt.

ALTER TABLE lifecycle.push_attempts
    -- What kind of place was connected to, or refused: for the operator. The account learns that it was refused, never what
    -- was there (§9.4).
    ADD COLUMN address_class   text COLLATE "C",
    -- When the push was to be tried again; null where this attempt was its last.
    ADD COLUMN next_attempt_at timestamptz CHECK (next_attempt_at IS NULL OR outcome = 'retry');
