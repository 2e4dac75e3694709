ALTER TABLE "tokens" ADD COLUMN "rotated_to" uuid;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_rotated_to_tokens_id_fk" FOREIGN KEY ("rotated_to") REFERENCES "public"."tokens"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tokens_rotated_to" ON "tokens" USING btree ("rotated_to") WHERE "tokens"."rotated_to" IS NOT NULL;