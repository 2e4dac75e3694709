CREATE TABLE "queue_changes" (
	"tenant" text NOT NULL,
	"queue" text NOT NULL,
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
CREATE TABLE "queue_counts" (
	"tenant" text NOT NULL,
	"queue" text NOT NULL,
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
CREATE TABLE "queues" (
	"tenant" text NOT NULL,
	"queue" text NOT NULL,
	"paused_at" timestamp (6) with time zone,
	CONSTRAINT "queues_tenant_queue_pk" PRIMARY KEY("tenant","queue")
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"tenant" text PRIMARY KEY NOT NULL,
	"email" text,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (6) with time zone,
	"last_used_at" timestamp (6) with time zone,
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_tenant_tenants_tenant_fk" FOREIGN KEY ("tenant") REFERENCES "public"."tenants"("tenant") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tokens_tenant" ON "tokens" USING btree ("tenant","id");--> statement-breakpoint
ALTER TABLE queue_changes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
INSERT INTO tenants (tenant) VALUES ('default');--> statement-breakpoint
INSERT INTO queue_counts (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
SELECT tenant, queue, count(*) FILTER (WHERE status = 'scheduled'), count(*) FILTER (WHERE status = 'blocked'),
       count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running'),
       count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'succeeded'),
       count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE status = 'cancelled')
FROM jobs GROUP BY tenant, queue;
