-- A person's key names a redelivery for a day; after that the same key is another one.
ALTER TABLE lifecycle.pushes ADD COLUMN redelivered_at timestamptz;
