-- Where an agent's directives, or the account's acknowledgements ($2 empty), are pushed to. Reads only. Index: webhooks_pkey.
SELECT url, scheme, credential_ref
FROM delivery.webhooks
WHERE account = $1 AND agent = $2;
