-- Room on each page for the versions that a claim and a settlement write: see packages/core/decisions/2026-11-20-storage.md.
ALTER TABLE jobs SET (fillfactor = 50);--> statement-breakpoint
-- Dead versions come at the rate of the jobs, whatever the table's size: a share of a large history would be too late.
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);--> statement-breakpoint
ALTER TABLE lease_batches SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
