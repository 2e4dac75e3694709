CREATE TABLE "queue_starts" (
	"tenant" text NOT NULL,
	"queue" text NOT NULL,
	"group_key" text,
	"started_at" timestamp (6) with time zone NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "concurrency" integer;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "rate_limit" integer;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "rate_period_seconds" double precision;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "group_rate_limit" integer;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "group_rate_period_seconds" double precision;--> statement-breakpoint
CREATE INDEX "queue_starts_window" ON "queue_starts" USING btree ("tenant","queue","group_key","started_at");