-- A tombstone ends as well, when it has stood for long. What the pass finds, over all accounts.
CREATE INDEX tombstones_oldest ON lifecycle.tombstones (erased_at);

ALTER TABLE lifecycle.tombstones SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
