CREATE TABLE "dead_letter_replays" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"state" text NOT NULL,
	"filter" json NOT NULL,
	"patch" json,
	"rate" double precision,
	"matched" integer NOT NULL,
	"matched_complete" boolean NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"left_over" integer DEFAULT 0 NOT NULL,
	"until_us" double precision NOT NULL,
	"place" json NOT NULL,
	"passes" smallint DEFAULT 0 NOT NULL,
	"passed_over" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (6) with time zone NOT NULL,
	"made_by" json NOT NULL,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"finished_at" timestamp (6) with time zone,
	CONSTRAINT "dead_letter_replays_state" CHECK (state IN ('running', 'paused', 'done', 'cancelled'))
);
--> statement-breakpoint
CREATE INDEX "dead_letter_replays_tenant" ON "dead_letter_replays" USING btree ("tenant","id");--> statement-breakpoint
CREATE INDEX "dead_letter_replays_next" ON "dead_letter_replays" USING btree ("next_at") WHERE state = 'running';