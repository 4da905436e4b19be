-- A host that was verified is registered by another method: it stays verified until the challenge of that is found.
ALTER TABLE delivery.callback_hosts ADD COLUMN is_rechallenged boolean NOT NULL DEFAULT false;
