CREATE TABLE "arrivals" (
	"job_id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C",
	"unique_key" text COLLATE "C",
	"on_conflict" text,
	"window_seconds" double precision,
	"idempotency_key" text COLLATE "C",
	"request_hash" "bytea",
	"key_ttl_seconds" double precision
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "noted" boolean;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "kept_until" timestamp (6) with time zone;--> statement-breakpoint
CREATE INDEX "arrivals_group" ON "arrivals" USING btree ("tenant","queue","group_key","job_id") WHERE group_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX "arrivals_key" ON "arrivals" USING btree ("tenant","idempotency_key") WHERE idempotency_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX "idempotency_keys_noted" ON "idempotency_keys" USING btree ("job_id") WHERE noted;--> statement-breakpoint
CREATE INDEX "unique_keys_window" ON "unique_keys" USING btree ("job_id") WHERE window_ends_at IS NOT NULL;