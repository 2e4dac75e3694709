ALTER TABLE "jobs" ADD COLUMN "error_fingerprint" text;--> statement-breakpoint
CREATE INDEX "jobs_dead_groups" ON "jobs" USING btree ("tenant","type","error_fingerprint","dead_at","id") WHERE dead_at IS NOT NULL AND error_fingerprint IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_dead_ungrouped" ON "jobs" USING btree ("id") WHERE dead_at IS NOT NULL AND error_fingerprint IS NULL;