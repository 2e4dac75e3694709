-- In the order of bytes, as all names are since 0003_byte_order.sql.
CREATE TABLE "schedules" (
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
	CONSTRAINT "schedules_tenant_name_pk" PRIMARY KEY("tenant","name"),
	CONSTRAINT "schedules_catch_up_known" CHECK (catch_up IN ('none', 'one', 'all'))
);
--> statement-breakpoint
CREATE INDEX "schedules_next" ON "schedules" USING btree ("next_at") WHERE paused_at IS NULL;