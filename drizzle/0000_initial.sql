-- Kept by hand for what drizzle cannot express: COLLATE "C", storage settings and REPLICA IDENTITY.
-- Names and keys are compared byte by byte (COLLATE "C"): a locale's order costs a third more for each key, and an index in it
-- breaks when the system's library changes its rules.
CREATE TABLE "atlasqueue"."audit_log" (
	"tenant" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"actor" json NOT NULL,
	"token_id" uuid,
	"action" text NOT NULL,
	"target" text,
	"count" integer,
	"detail" json,
	"request_id" text,
	"address" text,
	"refused" integer,
	"finished" boolean NOT NULL,
	"idempotency_key" text,
	"fingerprint" text,
	CONSTRAINT "audit_log_tenant_id_pk" PRIMARY KEY("tenant","id")
);
--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "atlasqueue"."audit_log" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_log_key" ON "atlasqueue"."audit_log" USING btree ("tenant","idempotency_key") WHERE idempotency_key IS NOT NULL;--> statement-breakpoint
CREATE TABLE "atlasqueue"."flow_edges" (
	"tenant" text COLLATE "C" NOT NULL,
	"parent" uuid NOT NULL,
	"child" uuid NOT NULL,
	"on_parent_failure" text NOT NULL,
	"failed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "flow_edges_parent_child_pk" PRIMARY KEY("parent","child")
);
--> statement-breakpoint
CREATE INDEX "flow_edges_of_child" ON "atlasqueue"."flow_edges" USING btree ("child","failed");--> statement-breakpoint
CREATE TABLE "atlasqueue"."flow_jobs" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid PRIMARY KEY NOT NULL,
	"flow_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"ref" text,
	"on_parent_failure" text NOT NULL,
	"parents" json NOT NULL,
	"cancelled_by" uuid
);
--> statement-breakpoint
CREATE INDEX "flow_jobs_of_flow" ON "atlasqueue"."flow_jobs" USING btree ("flow_id","place");--> statement-breakpoint
CREATE TABLE "atlasqueue"."flows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"created_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "flows_of_tenant" ON "atlasqueue"."flows" USING btree ("tenant","id");--> statement-breakpoint
CREATE TABLE "atlasqueue"."idempotency_keys" (
	"tenant" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"job_id" uuid NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	"is_alias" boolean,
	CONSTRAINT "idempotency_keys_tenant_key_pk" PRIMARY KEY("tenant","key")
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "atlasqueue"."idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_is_alias" ON "atlasqueue"."idempotency_keys" USING btree ("job_id") WHERE is_alias;--> statement-breakpoint
CREATE TABLE "atlasqueue"."job_attempts" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"id" bigserial NOT NULL,
	"attempt" smallint NOT NULL,
	"worker_id" text,
	"started_at" timestamp (6) with time zone,
	"finished_at" timestamp (6) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"error" text,
	"logs" json,
	CONSTRAINT "job_attempts_job_id_id_pk" PRIMARY KEY("job_id","id")
);
--> statement-breakpoint
-- Each job of a group writes the group's row: with free space on its page, no index changes.
CREATE TABLE "atlasqueue"."job_groups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C" NOT NULL,
	"last_seq" bigint NOT NULL,
	"admitted" integer NOT NULL,
	"heads" uuid[] NOT NULL,
	"overdue_at" timestamp (6) with time zone,
	CONSTRAINT "job_groups_tenant_queue_group_key_pk" PRIMARY KEY("tenant","queue","group_key")
);
--> statement-breakpoint
CREATE INDEX "job_groups_overdue" ON "atlasqueue"."job_groups" USING btree ("tenant","overdue_at") WHERE overdue_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."job_groups" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."job_state" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"value" json,
	"at" timestamp (6) with time zone NOT NULL,
	"attempt" smallint,
	"until" timestamp (6) with time zone,
	"timeout_delivered" boolean,
	CONSTRAINT "job_state_job_id_kind_name_pk" PRIMARY KEY("job_id","kind","name")
);
--> statement-breakpoint
-- Free space on each page for the row versions of a claim and a settlement: packages/core/decisions/2026-11-20-storage.md.
-- Dead row versions come at the rate of the jobs, so a share of a large history would start autovacuum too late.
CREATE TABLE "atlasqueue"."jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"queue" text COLLATE "C" DEFAULT 'default' NOT NULL,
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
	"group_key" text COLLATE "C",
	"dead_reason" text,
	"last_error" text,
	"backoff" json,
	"progress" json,
	"payload" json NOT NULL,
	"result" json,
	"group_seq" bigint,
	"active_group_key" text COLLATE "C",
	"kept_until" timestamp (6) with time zone,
	"error_fingerprint" text,
	"traceparent" text,
	"tracestate" text,
	"flow_id" uuid,
	"has_children" boolean,
	"waits_for" text,
	"has_steps" boolean
);
--> statement-breakpoint
CREATE INDEX "jobs_ready" ON "atlasqueue"."jobs" USING btree ("tenant","queue","priority" DESC NULLS FIRST,"ready_at","id") WHERE ready_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_due" ON "atlasqueue"."jobs" USING btree ("due_at") WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_dead" ON "atlasqueue"."jobs" USING btree ("dead_at","id") WHERE dead_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_blocked" ON "atlasqueue"."jobs" USING btree ("tenant","queue","group_key","group_seq") WHERE group_seq IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_active_group_key" ON "atlasqueue"."jobs" USING btree ("tenant","queue","active_group_key") WHERE active_group_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_dead_groups" ON "atlasqueue"."jobs" USING btree ("tenant","type","error_fingerprint","dead_at","id") WHERE dead_at IS NOT NULL AND error_fingerprint IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_due_turns" ON "atlasqueue"."jobs" USING btree ("tenant","queue","due_at") WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_waiting_of_flow" ON "atlasqueue"."jobs" USING btree ("flow_id") WHERE flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL);--> statement-breakpoint
ALTER TABLE "atlasqueue"."jobs" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);--> statement-breakpoint
-- A claim's ids (4 kB of 250) stay in its row: PostgreSQL would compress and move them, and the row is soon deleted.
CREATE TABLE "atlasqueue"."claims" (
	"tenant" text COLLATE "C" NOT NULL,
	"token" uuid PRIMARY KEY NOT NULL,
	"worker_id" text NOT NULL,
	"check_at" timestamp (6) with time zone NOT NULL,
	"job_ids" uuid[] NOT NULL
);
--> statement-breakpoint
CREATE INDEX "claims_check" ON "atlasqueue"."claims" USING btree ("check_at");--> statement-breakpoint
ALTER TABLE "atlasqueue"."claims" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, toast_tuple_target = 8160);--> statement-breakpoint
CREATE TABLE "atlasqueue"."operations" (
	"tenant" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"filter" json NOT NULL,
	"patch" json,
	"payload_bytes_max" integer NOT NULL,
	"rate" double precision,
	"total" integer NOT NULL,
	"total_complete" boolean NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"until_us" double precision NOT NULL,
	"cursor" json NOT NULL,
	"passes" smallint DEFAULT 0 NOT NULL,
	"passed_over" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (6) with time zone NOT NULL,
	"made_by" json NOT NULL,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"finished_at" timestamp (6) with time zone,
	CONSTRAINT "operations_tenant_id_pk" PRIMARY KEY("tenant","id"),
	CONSTRAINT "operations_kind" CHECK (kind IN ('replay', 'cancel', 'retry', 'delete', 'purge')),
	CONSTRAINT "operations_status" CHECK (status IN ('running', 'paused', 'done', 'cancelled'))
);
--> statement-breakpoint
CREATE INDEX "operations_next" ON "atlasqueue"."operations" USING btree ("next_at") WHERE status = 'running';--> statement-breakpoint
CREATE TABLE "atlasqueue"."outbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"version" smallint DEFAULT 1 NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C",
	"lane" text COLLATE "C",
	"payload" jsonb,
	"not_before" timestamp (6) with time zone
);
--> statement-breakpoint
CREATE INDEX "outbox_due" ON "atlasqueue"."outbox" USING btree ("tenant",coalesce(not_before, '-infinity'::timestamptz),"id");--> statement-breakpoint
CREATE INDEX "outbox_idempotency_key" ON "atlasqueue"."outbox" USING btree ("tenant",(payload ->> 'idempotency_key')) WHERE payload ->> 'idempotency_key' IS NOT NULL;--> statement-breakpoint
CREATE INDEX "outbox_lane" ON "atlasqueue"."outbox" USING btree ("tenant","lane","id") WHERE lane IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."outbox" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_changes" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"scheduled" integer DEFAULT 0 NOT NULL,
	"blocked" integer DEFAULT 0 NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"succeeded" integer DEFAULT 0 NOT NULL,
	"dead" integer DEFAULT 0 NOT NULL,
	"cancelled" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "atlasqueue"."queue_changes" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_counts" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"scheduled" bigint DEFAULT 0 NOT NULL,
	"blocked" bigint DEFAULT 0 NOT NULL,
	"queued" bigint DEFAULT 0 NOT NULL,
	"running" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"succeeded" bigint DEFAULT 0 NOT NULL,
	"dead" bigint DEFAULT 0 NOT NULL,
	"cancelled" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "queue_counts_tenant_queue_pk" PRIMARY KEY("tenant","queue")
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_starts" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C",
	"started_at" timestamp (6) with time zone NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "queue_starts_window" ON "atlasqueue"."queue_starts" USING btree ("tenant","queue","group_key","started_at");--> statement-breakpoint
CREATE TABLE "atlasqueue"."queues" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"paused_at" timestamp (6) with time zone,
	"group_concurrency" integer,
	"concurrency" integer,
	"rate_limit" integer,
	"rate_period_seconds" double precision,
	"group_rate_limit" integer,
	"group_rate_period_seconds" double precision,
	"fair_by" text,
	CONSTRAINT "queues_tenant_queue_pk" PRIMARY KEY("tenant","queue")
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."redis_owner" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"nonces" text[] NOT NULL,
	"renewed_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"stranger" text,
	"refused_until" timestamp (6) with time zone
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."rollups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"resolution" text COLLATE "C" NOT NULL,
	"at" timestamp (6) with time zone NOT NULL,
	"submitted" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"dead" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"waits" bigint[] NOT NULL,
	"runs" bigint[] NOT NULL,
	CONSTRAINT "rollups_tenant_queue_type_at_resolution_pk" PRIMARY KEY("tenant","queue","type","at","resolution")
);
--> statement-breakpoint
CREATE INDEX "rollups_at" ON "atlasqueue"."rollups" USING btree ("resolution","at");--> statement-breakpoint
CREATE TABLE "atlasqueue"."schedules" (
	"tenant" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"cron" text NOT NULL,
	"timezone" text NOT NULL,
	"catch_up" text NOT NULL,
	"job" json NOT NULL,
	"paused_at" timestamp (6) with time zone,
	"next_at" timestamp (6) with time zone,
	"last_slot_at" timestamp (6) with time zone,
	"last_job_id" uuid,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"traceparent" text,
	"tracestate" text,
	CONSTRAINT "schedules_tenant_name_pk" PRIMARY KEY("tenant","name"),
	CONSTRAINT "schedules_catch_up_known" CHECK (catch_up IN ('none', 'one', 'all'))
);
--> statement-breakpoint
CREATE INDEX "schedules_next" ON "atlasqueue"."schedules" USING btree ("next_at") WHERE paused_at IS NULL;--> statement-breakpoint
CREATE TABLE "atlasqueue"."sessions" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"token_id" uuid NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "sessions_token" ON "atlasqueue"."sessions" USING btree ("token_id","created_at");--> statement-breakpoint
CREATE TABLE "atlasqueue"."signing_keys" (
	"name" text PRIMARY KEY NOT NULL,
	"key" "bytea" NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."tenants" (
	"tenant" text PRIMARY KEY NOT NULL,
	"email" text,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (6) with time zone,
	"last_used_at" timestamp (6) with time zone,
	"rotated_to" uuid,
	"own_expires_at" timestamp (6) with time zone,
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE INDEX "tokens_tenant" ON "atlasqueue"."tokens" USING btree ("tenant","id");--> statement-breakpoint
CREATE INDEX "tokens_rotated_to" ON "atlasqueue"."tokens" USING btree ("rotated_to") WHERE rotated_to IS NOT NULL;--> statement-breakpoint
CREATE TABLE "atlasqueue"."unique_keys" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"window_ends_at" timestamp (6) with time zone,
	"check_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "unique_keys_tenant_queue_key_pk" PRIMARY KEY("tenant","queue","key")
);
--> statement-breakpoint
CREATE INDEX "unique_keys_check" ON "atlasqueue"."unique_keys" USING btree ("check_at");--> statement-breakpoint
CREATE INDEX "unique_keys_window" ON "atlasqueue"."unique_keys" USING btree ("job_id") WHERE window_ends_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."tokens" ADD CONSTRAINT "tokens_tenant_tenants_tenant_fk" FOREIGN KEY ("tenant") REFERENCES "atlasqueue"."tenants"("tenant") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "atlasqueue"."tokens" ADD CONSTRAINT "tokens_rotated_to_tokens_id_fk" FOREIGN KEY ("rotated_to") REFERENCES "atlasqueue"."tokens"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "atlasqueue"."sessions" ADD CONSTRAINT "sessions_token_id_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "atlasqueue"."tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Tables without a key: PostgreSQL updates and deletes none of their rows while a publication has them.
ALTER TABLE "atlasqueue"."queue_changes" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."queue_starts" REPLICA IDENTITY FULL;--> statement-breakpoint
INSERT INTO "atlasqueue"."tenants" ("tenant") VALUES ('default');
