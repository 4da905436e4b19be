-- Makes this key the hub's, if none is active yet: of the replicas that try at once, one wins, and the others find
-- that one in their next statement. Waits for a rival's commit. Index: signing_keys_one_active.
INSERT INTO delivery.signing_keys (kid, public_key, status, sealed, kek_id)
VALUES ($1, $2, 'active', $3, $4)
ON CONFLICT DO NOTHING;
