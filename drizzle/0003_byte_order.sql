-- Names and keys are found, never sorted for people: in the order of their bytes, whatever locale the database has. A
-- locale's order costs a third more for each key, and an index in it breaks when the system's library changes its mind.
ALTER TABLE jobs ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN queue TYPE text COLLATE "C";--> statement-breakpoint
ALTER TABLE idempotency_keys ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN key TYPE text COLLATE "C";--> statement-breakpoint
ALTER TABLE queues ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN queue TYPE text COLLATE "C";--> statement-breakpoint
ALTER TABLE queue_counts ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN queue TYPE text COLLATE "C";--> statement-breakpoint
ALTER TABLE queue_changes ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN queue TYPE text COLLATE "C";
