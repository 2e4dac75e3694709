CREATE TABLE "group_handovers" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_groups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C" NOT NULL,
	"last_seq" bigint NOT NULL,
	"admitted" integer NOT NULL,
	"heads" uuid[] NOT NULL,
	CONSTRAINT "job_groups_tenant_queue_group_key_pk" PRIMARY KEY("tenant","queue","group_key")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "blocked_seq" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "holds_group" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "group_concurrency" integer;--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "group_key" TYPE text COLLATE "C";--> statement-breakpoint
CREATE INDEX "jobs_blocked" ON "jobs" USING btree ("tenant","queue","group_key","blocked_seq") WHERE blocked_seq IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_holds_group" ON "jobs" USING btree ("tenant","queue","holds_group") WHERE holds_group IS NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_blocked_seq" CHECK ((status = 'blocked') = (blocked_seq IS NOT NULL));--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_holds_group_open" CHECK (holds_group IS NULL OR status IN ('scheduled', 'queued', 'running', 'failed'));--> statement-breakpoint
ALTER TABLE group_handovers SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
-- A group's row is written for each of its jobs: room beside it, and its key never changes, so that no index is touched.
ALTER TABLE job_groups SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
