-- Redelivery (§8.3): what was given up is found by account and host, and put back on the queue.

-- Host of `callback_url` as a callback host is registered, so that no statement takes a URL apart.
ALTER TABLE lifecycle.envelopes ADD COLUMN callback_host text COLLATE "C";

ALTER TABLE lifecycle.pushes
    ADD COLUMN host text COLLATE "C",
    -- Of the call that raised the generation last: made again, it changes nothing.
    ADD COLUMN redelivery_id text COLLATE "C";

CREATE INDEX pushes_exhausted ON lifecycle.pushes (account, message_id) WHERE state = 'exhausted';
