-- A claim that was taken back and put first deliveries into their old places again: into whose mailbox, when, and the first of
-- those places. Whoever has seen where that mailbox begins goes back there.
ALTER TABLE lifecycle.claims
    ADD COLUMN agent text COLLATE "C",
    ADD COLUMN put_back_at timestamptz,
    ADD COLUMN put_back_to timestamptz;

CREATE INDEX claims_put_back ON lifecycle.claims (account, agent, put_back_at) WHERE put_back_at IS NOT NULL;
