CREATE TABLE "redis_owner" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"nonces" text[] NOT NULL,
	"renewed_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"stranger" text,
	"refused_until" timestamp (6) with time zone
);
