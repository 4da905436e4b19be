-- Takes a webhook back: what is owed to it ends at its next claim. Locks the row. Index: webhooks_pkey.
DELETE FROM delivery.webhooks
WHERE account = $1 AND agent = $2;
