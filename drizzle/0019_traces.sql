ALTER TABLE "jobs" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "tracestate" text;--> statement-breakpoint
ALTER TABLE "schedules" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "schedules" ADD COLUMN "tracestate" text;