CREATE TABLE "hour_rollups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"at" timestamp (6) with time zone NOT NULL,
	"submitted" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"dead" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"waits" bigint[] NOT NULL,
	"runs" bigint[] NOT NULL,
	CONSTRAINT "hour_rollups_tenant_queue_type_at_pk" PRIMARY KEY("tenant","queue","type","at")
);
--> statement-breakpoint
CREATE TABLE "inside_submissions" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "minute_rollups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"at" timestamp (6) with time zone NOT NULL,
	"submitted" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"dead" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"waits" bigint[] NOT NULL,
	"runs" bigint[] NOT NULL,
	CONSTRAINT "minute_rollups_tenant_queue_type_at_pk" PRIMARY KEY("tenant","queue","type","at")
);
--> statement-breakpoint
CREATE INDEX "hour_rollups_at" ON "hour_rollups" USING btree ("at");--> statement-breakpoint
CREATE INDEX "minute_rollups_at" ON "minute_rollups" USING btree ("at");