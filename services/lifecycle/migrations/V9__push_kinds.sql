-- What is pushed: a Response to its message's callback (§8.3), a directive to its addressee's webhook (§8.7), an
-- acknowledgement to the account's own client (§14.4). One queue for all; `message_id` is the id of what is pushed.

ALTER TABLE lifecycle.pushes DROP CONSTRAINT pushes_state_check;
ALTER TABLE lifecycle.pushes
    -- Where a directive or an acknowledgement goes, delivery says at each claim.
    ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'response' CHECK (kind IN ('response', 'directive', 'ack')),
    -- `ended`: nothing is left to push, or nowhere to push it to.
    ADD CONSTRAINT pushes_state_check
        CHECK (state IN ('due', 'held', 'delivered', 'refused', 'exhausted', 'expired', 'ended'));

-- Of an acknowledgement that is pushed.
ALTER TABLE lifecycle.acks ADD COLUMN ack_id text COLLATE "C";

CREATE UNIQUE INDEX acks_pushed ON lifecycle.acks (account, ack_id) WHERE ack_id IS NOT NULL;
