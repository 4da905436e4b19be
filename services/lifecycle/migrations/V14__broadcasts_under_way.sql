-- How many broadcasts of an account have agents to reach yet is bounded, and counted.
CREATE INDEX broadcasts_under_way ON lifecycle.broadcasts (account) WHERE fanned_out_at IS NULL;
