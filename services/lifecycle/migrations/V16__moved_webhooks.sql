-- What is held for a host that its webhook has left is found by the webhook.

ALTER TABLE lifecycle.pushes
    -- Whose webhook it was to go to at its last claim: an agent's, or the account's (empty). Null for a Response.
    ADD COLUMN webhook text COLLATE "C";

CREATE INDEX pushes_held_for_webhooks ON lifecycle.pushes (account, webhook, host)
WHERE state = 'held' AND webhook IS NOT NULL;
