CREATE TABLE "unique_keys" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"window_ends_at" timestamp (6) with time zone,
	"check_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "unique_keys_tenant_queue_key_pk" PRIMARY KEY("tenant","queue","key")
);
--> statement-breakpoint
CREATE INDEX "unique_keys_check" ON "unique_keys" USING btree ("check_at");