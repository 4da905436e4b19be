-- Who alone may answer a message, for whoever removes that person. Written once, beside what a list shows; the few who ask
-- walk the open messages of an account, so that no submit pays for an index.

-- The id of the one human that `allowed_resolvers` names; null where it names another, several, or nobody, and for what
-- was accepted before.
ALTER TABLE lifecycle.envelopes ADD COLUMN sole_resolver text COLLATE "C";
