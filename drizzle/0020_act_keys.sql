ALTER TABLE "audit_log" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "fingerprint" text;--> statement-breakpoint
CREATE UNIQUE INDEX "audit_log_key" ON "audit_log" USING btree ("tenant","idempotency_key") WHERE idempotency_key IS NOT NULL;