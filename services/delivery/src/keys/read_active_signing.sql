-- The key that signs now. Reads only. Index: signing_keys_one_active.
SELECT kid, sealed, kek_id
FROM delivery.signing_keys
WHERE status = 'active';
