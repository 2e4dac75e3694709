CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"actor" json NOT NULL,
	"token_id" uuid,
	"action" text NOT NULL,
	"target" text,
	"count" integer,
	"detail" json,
	"request_id" text
);
--> statement-breakpoint
CREATE INDEX "audit_log_tenant" ON "audit_log" USING btree ("tenant","id");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at");