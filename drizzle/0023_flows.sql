CREATE TABLE "flow_edges" (
	"parent" uuid NOT NULL,
	"child" uuid NOT NULL,
	"on_parent_failure" text NOT NULL,
	"failed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "flow_edges_parent_child_pk" PRIMARY KEY("parent","child")
);
--> statement-breakpoint
CREATE TABLE "flow_jobs" (
	"job_id" uuid PRIMARY KEY NOT NULL,
	"flow_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"ref" text,
	"on_parent_failure" text NOT NULL,
	"parents" json NOT NULL,
	"cancelled_by" uuid
);
--> statement-breakpoint
CREATE TABLE "flow_notes" (
	"job_id" uuid NOT NULL,
	"role" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "flows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text NOT NULL,
	"created_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_signals" (
	"job_id" uuid NOT NULL,
	"name" text NOT NULL,
	"payload" json NOT NULL,
	"sent_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "job_signals_job_id_name_pk" PRIMARY KEY("job_id","name")
);
--> statement-breakpoint
CREATE TABLE "job_steps" (
	"job_id" uuid NOT NULL,
	"name" text NOT NULL,
	"result" json NOT NULL,
	"attempt" smallint NOT NULL,
	"finished_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "job_steps_job_id_name_pk" PRIMARY KEY("job_id","name")
);
--> statement-breakpoint
CREATE TABLE "job_waits" (
	"job_id" uuid NOT NULL,
	"name" text NOT NULL,
	"until" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "job_waits_job_id_name_pk" PRIMARY KEY("job_id","name")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "flow_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "has_children" boolean;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "waits_for" text;--> statement-breakpoint
CREATE INDEX "flow_edges_of_child" ON "flow_edges" USING btree ("child");--> statement-breakpoint
CREATE INDEX "flow_jobs_of_flow" ON "flow_jobs" USING btree ("flow_id","place");--> statement-breakpoint
CREATE INDEX "flow_notes_of_role" ON "flow_notes" USING btree ("role");--> statement-breakpoint
CREATE INDEX "flows_of_tenant" ON "flows" USING btree ("tenant","id");--> statement-breakpoint
ALTER TABLE flows ALTER COLUMN tenant TYPE text COLLATE "C";
