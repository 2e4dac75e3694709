DROP INDEX "flow_notes_of_role";--> statement-breakpoint
ALTER TABLE "flow_notes" ADD COLUMN "tenant" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "flow_notes_of_tenant" ON "flow_notes" USING btree ("role","tenant");