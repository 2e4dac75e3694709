CREATE TABLE "idempotency_keys" (
	"tenant" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"job_id" uuid NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_key_pk" PRIMARY KEY("tenant","key")
);
--> statement-breakpoint
CREATE TABLE "job_attempts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"job_id" uuid NOT NULL,
	"attempt" smallint NOT NULL,
	"worker_id" text,
	"started_at" timestamp (6) with time zone,
	"finished_at" timestamp (6) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text DEFAULT 'default' NOT NULL,
	"queue" text DEFAULT 'default' NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"priority" smallint DEFAULT 0 NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"max_attempts" smallint DEFAULT 5 NOT NULL,
	"timeout_seconds" integer,
	"run_at" timestamp (6) with time zone NOT NULL,
	"ready_at" timestamp (6) with time zone,
	"due_at" timestamp (6) with time zone,
	"dead_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"started_at" timestamp (6) with time zone,
	"finished_at" timestamp (6) with time zone,
	"lease_token" uuid,
	"locked_until" timestamp (6) with time zone,
	"worker_id" text,
	"group_key" text,
	"dead_reason" text,
	"last_error" text,
	"backoff" json,
	"progress" json,
	"payload" json NOT NULL,
	"result" json,
	CONSTRAINT "jobs_status_known" CHECK (status IN ('scheduled', 'blocked', 'queued', 'running', 'failed', 'succeeded', 'dead', 'cancelled')),
	CONSTRAINT "jobs_ready_at" CHECK ((status = 'queued') = (ready_at IS NOT NULL)),
	CONSTRAINT "jobs_due_at" CHECK ((status IN ('scheduled', 'failed')) = (due_at IS NOT NULL)),
	CONSTRAINT "jobs_dead_at" CHECK ((status = 'dead') = (dead_at IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "lease_batches" (
	"token" uuid PRIMARY KEY NOT NULL,
	"worker_id" text NOT NULL,
	"check_at" timestamp (6) with time zone NOT NULL,
	"job_ids" uuid[] NOT NULL
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "job_attempts_job" ON "job_attempts" USING btree ("job_id","id");--> statement-breakpoint
CREATE INDEX "jobs_ready" ON "jobs" USING btree ("tenant","queue","priority" DESC NULLS FIRST,"ready_at","id") WHERE ready_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_due" ON "jobs" USING btree ("due_at") WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_dead" ON "jobs" USING btree ("dead_at","id") WHERE dead_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "lease_batches_check" ON "lease_batches" USING btree ("check_at");