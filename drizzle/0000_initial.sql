-- Kept by hand for what drizzle cannot express: COLLATE "C", storage settings and REPLICA IDENTITY.
-- Names and keys are compared byte by byte (COLLATE "C"): a locale's order costs a third more for each key, and an index in it
-- breaks when the system's library changes its rules.
CREATE TABLE "atlasqueue"."audit_log" (
	"tenant" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"actor" json NOT NULL,
	"token_id" uuid,
	"action" text NOT NULL,
	"target" text,
	"count" integer,
	"detail" json,
	"request_id" text,
	"address" text,
	"refused" integer,
	"finished" boolean NOT NULL,
	"idempotency_key" text,
	"fingerprint" text,
	CONSTRAINT "audit_log_tenant_id_pk" PRIMARY KEY("tenant","id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "audit_log_key" ON "atlasqueue"."audit_log" USING btree ("tenant","idempotency_key") WHERE idempotency_key IS NOT NULL;--> statement-breakpoint
CREATE TABLE "atlasqueue"."flow_edges" (
	"tenant" text COLLATE "C" NOT NULL,
	"parent" uuid NOT NULL,
	"child" uuid NOT NULL,
	"on_parent_failure" text NOT NULL,
	"failed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "flow_edges_parent_child_pk" PRIMARY KEY("parent","child")
);
--> statement-breakpoint
CREATE INDEX "flow_edges_of_child" ON "atlasqueue"."flow_edges" USING btree ("child","failed");--> statement-breakpoint
CREATE TABLE "atlasqueue"."flow_jobs" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid PRIMARY KEY NOT NULL,
	"flow_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"ref" text,
	"on_parent_failure" text NOT NULL,
	"parents" json NOT NULL,
	"cancelled_by" uuid
);
--> statement-breakpoint
CREATE INDEX "flow_jobs_of_flow" ON "atlasqueue"."flow_jobs" USING btree ("tenant","flow_id","place");--> statement-breakpoint
CREATE TABLE "atlasqueue"."idempotency_keys" (
	"tenant" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"job_id" uuid NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	"is_alias" boolean,
	CONSTRAINT "idempotency_keys_tenant_key_pk" PRIMARY KEY("tenant","key")
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "atlasqueue"."idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_is_alias" ON "atlasqueue"."idempotency_keys" USING btree ("job_id") WHERE is_alias;--> statement-breakpoint
CREATE TABLE "atlasqueue"."job_attempts" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"id" bigserial NOT NULL,
	"attempt" smallint NOT NULL,
	"worker_id" text,
	"started_at" timestamp (6) with time zone,
	"finished_at" timestamp (6) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"error" text,
	"logs" json,
	CONSTRAINT "job_attempts_job_id_id_pk" PRIMARY KEY("job_id","id")
);
--> statement-breakpoint
-- Each job of a group writes the group's row: with free space on its page, no index changes.
CREATE TABLE "atlasqueue"."job_groups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C" NOT NULL,
	"last_seq" bigint NOT NULL,
	"admitted" integer NOT NULL,
	"heads" uuid[] NOT NULL,
	"overdue_at" timestamp (6) with time zone,
	"last_started_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_groups_tenant_queue_group_key_pk" PRIMARY KEY("tenant","queue","group_key")
);
--> statement-breakpoint
CREATE INDEX "job_groups_overdue" ON "atlasqueue"."job_groups" USING btree ("tenant","overdue_at") WHERE overdue_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."job_groups" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."job_state" (
	"tenant" text COLLATE "C" NOT NULL,
	"job_id" uuid NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"value" json,
	"at" timestamp (6) with time zone NOT NULL,
	"attempt" smallint,
	"until" timestamp (6) with time zone,
	"timeout_delivered" boolean,
	CONSTRAINT "job_state_job_id_kind_name_pk" PRIMARY KEY("job_id","kind","name")
);
--> statement-breakpoint
-- Free space on each page for the row versions of a claim and a settlement: packages/core/decisions/2026-11-20-storage.md.
-- Dead row versions come at the rate of the jobs, so a share of a large history would start autovacuum too late.
-- No query gains from parallel workers: to start two took 42 ms, for a look that found nothing.
CREATE TABLE "atlasqueue"."jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"queue" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"type" text NOT NULL,
	"priority" smallint DEFAULT 0 NOT NULL,
	"max_attempts" smallint DEFAULT 5 NOT NULL,
	"timeout_seconds" integer,
	"retention_seconds" integer,
	"result_ttl_seconds" integer,
	"created_at" timestamp (6) with time zone NOT NULL,
	"run_at" timestamp (6) with time zone NOT NULL,
	"kept_until" timestamp (6) with time zone,
	"expires_at" timestamp (6) with time zone,
	"unique_until" timestamp (6) with time zone,
	"started_at" timestamp (6) with time zone,
	"lease_token" uuid,
	"ready_at" timestamp (6) with time zone,
	"due_at" timestamp (6) with time zone,
	"dead_at" timestamp (6) with time zone,
	"group_seq" bigint,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"finished_at" timestamp (6) with time zone,
	"locked_until" timestamp (6) with time zone,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"worker_id" text,
	"status" text NOT NULL,
	"dead_reason" text,
	"active_group_key" text COLLATE "C",
	"error_fingerprint" text,
	"waits_for" text,
	"has_steps" boolean,
	"has_children" boolean,
	"last_error" text,
	"progress" json,
	"result" json,
	"group_key" text COLLATE "C",
	"unique_key" text COLLATE "C",
	"tags" text[],
	"backoff" json,
	"traceparent" text,
	"tracestate" text,
	"flow_id" uuid,
	"payload" json NOT NULL
);
--> statement-breakpoint
CREATE INDEX "jobs_ready" ON "atlasqueue"."jobs" USING btree ("tenant","queue","priority" DESC NULLS FIRST,"ready_at","id") WHERE ready_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_due" ON "atlasqueue"."jobs" USING btree ("due_at") WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_tags" ON "atlasqueue"."jobs" USING gin ("tags") WHERE tags IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_expiring" ON "atlasqueue"."jobs" USING btree ("expires_at") WHERE expires_at IS NOT NULL AND attempts = 0;--> statement-breakpoint
CREATE INDEX "jobs_dead" ON "atlasqueue"."jobs" USING btree ("dead_at","id") WHERE dead_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_blocked" ON "atlasqueue"."jobs" USING btree ("tenant","queue","group_key","group_seq") WHERE group_seq IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_active_group_key" ON "atlasqueue"."jobs" USING btree ("tenant","queue","active_group_key") WHERE active_group_key IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_unique_key" ON "atlasqueue"."jobs" USING btree ("tenant","queue","unique_key") WHERE unique_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_dead_groups" ON "atlasqueue"."jobs" USING btree ("tenant","type","error_fingerprint","dead_at","id") WHERE dead_at IS NOT NULL AND error_fingerprint IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_due_turns" ON "atlasqueue"."jobs" USING btree ("tenant","queue","due_at") WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_waiting_of_flow" ON "atlasqueue"."jobs" USING btree ("flow_id") WHERE flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL);--> statement-breakpoint
CREATE INDEX "jobs_kept" ON "atlasqueue"."jobs" USING btree ("id") WHERE retention_seconds IS NOT NULL OR result_ttl_seconds IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."jobs" SET (fillfactor = 50, parallel_workers = 0, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);--> statement-breakpoint
-- ANALYZE then reads 7,500 rows instead of 30,000: 0.15 s of CPU instead of 0.85, each minute under load. No statement
-- needs more: they find rows by keys and times.
DO $$ BEGIN
  EXECUTE (
    SELECT 'ALTER TABLE "atlasqueue"."jobs" ' || string_agg(format('ALTER COLUMN %I SET STATISTICS 25', attname), ', ')
    FROM pg_attribute WHERE attrelid = '"atlasqueue"."jobs"'::regclass AND attnum > 0);
END $$;--> statement-breakpoint
-- A claim's ids (4 kB of 250) stay in its row: PostgreSQL would compress and move them, and the row is soon deleted.
CREATE TABLE "atlasqueue"."claims" (
	"tenant" text COLLATE "C" NOT NULL,
	"token" uuid NOT NULL,
	"worker_id" text NOT NULL,
	"check_at" timestamp (6) with time zone NOT NULL,
	"job_ids" uuid[] NOT NULL,
	CONSTRAINT "claims_pkey" PRIMARY KEY("token","tenant")
);
--> statement-breakpoint
CREATE INDEX "claims_check" ON "atlasqueue"."claims" USING btree ("check_at");--> statement-breakpoint
ALTER TABLE "atlasqueue"."claims" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, toast_tuple_target = 8160);--> statement-breakpoint
CREATE TABLE "atlasqueue"."operations" (
	"tenant" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"filter" json NOT NULL,
	"patch" json,
	"payload_bytes_max" integer NOT NULL,
	"rate" double precision,
	"total" integer NOT NULL,
	"total_complete" boolean NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"until_us" double precision NOT NULL,
	"cursor" json NOT NULL,
	"passes" smallint DEFAULT 0 NOT NULL,
	"passed_over" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (6) with time zone NOT NULL,
	"made_by" json NOT NULL,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"finished_at" timestamp (6) with time zone,
	CONSTRAINT "operations_tenant_id_pk" PRIMARY KEY("tenant","id"),
	CONSTRAINT "operations_kind" CHECK (kind IN ('replay', 'cancel', 'retry', 'delete', 'purge')),
	CONSTRAINT "operations_status" CHECK (status IN ('running', 'paused', 'done', 'cancelled'))
);
--> statement-breakpoint
CREATE INDEX "operations_next" ON "atlasqueue"."operations" USING btree ("next_at") WHERE status = 'running';--> statement-breakpoint
CREATE TABLE "atlasqueue"."outbox" (
	"id" bigserial NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"version" smallint DEFAULT 1 NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C",
	"lane" text COLLATE "C",
	"payload" jsonb,
	"not_before" timestamp (6) with time zone DEFAULT '-infinity' NOT NULL,
	CONSTRAINT "outbox_tenant_not_before_id_pk" PRIMARY KEY("tenant","not_before","id")
);
--> statement-breakpoint
CREATE INDEX "outbox_idempotency_key" ON "atlasqueue"."outbox" USING btree ("tenant",(payload ->> 'idempotency_key')) WHERE payload ->> 'idempotency_key' IS NOT NULL;--> statement-breakpoint
CREATE INDEX "outbox_lane" ON "atlasqueue"."outbox" USING btree ("tenant","lane","id") WHERE lane IS NOT NULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."outbox" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_changes" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"scheduled" integer DEFAULT 0 NOT NULL,
	"blocked" integer DEFAULT 0 NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"succeeded" integer DEFAULT 0 NOT NULL,
	"dead" integer DEFAULT 0 NOT NULL,
	"cancelled" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "atlasqueue"."queue_changes" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_counts" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"scheduled" bigint DEFAULT 0 NOT NULL,
	"blocked" bigint DEFAULT 0 NOT NULL,
	"queued" bigint DEFAULT 0 NOT NULL,
	"running" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"succeeded" bigint DEFAULT 0 NOT NULL,
	"dead" bigint DEFAULT 0 NOT NULL,
	"cancelled" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "queue_counts_tenant_queue_pk" PRIMARY KEY("tenant","queue")
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."queue_starts" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"group_key" text COLLATE "C",
	"started_at" timestamp (6) with time zone NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "queue_starts_window" ON "atlasqueue"."queue_starts" USING btree ("tenant","queue","group_key","started_at");--> statement-breakpoint
CREATE TABLE "atlasqueue"."queues" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"paused_at" timestamp (6) with time zone,
	"group_concurrency" integer,
	"concurrency" integer,
	"rate_limit" integer,
	"rate_period_seconds" double precision,
	"group_rate_limit" integer,
	"group_rate_period_seconds" double precision,
	"fair_by" text,
	"ungrouped_started_at" timestamp (6) with time zone,
	"defaults" json,
	CONSTRAINT "queues_tenant_queue_pk" PRIMARY KEY("tenant","queue")
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."redis_owner" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"nonces" text[] NOT NULL,
	"renewed_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"stranger" text,
	"refused_until" timestamp (6) with time zone
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."rollups" (
	"tenant" text COLLATE "C" NOT NULL,
	"queue" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"resolution" text COLLATE "C" NOT NULL,
	"at" timestamp (6) with time zone NOT NULL,
	"submitted" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"dead" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"waits" bigint[] NOT NULL,
	"runs" bigint[] NOT NULL,
	CONSTRAINT "rollups_tenant_queue_type_at_resolution_pk" PRIMARY KEY("tenant","queue","type","at","resolution")
);
--> statement-breakpoint
CREATE INDEX "rollups_at" ON "atlasqueue"."rollups" USING btree ("resolution","at");--> statement-breakpoint
CREATE TABLE "atlasqueue"."schedules" (
	"tenant" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"cron" text NOT NULL,
	"timezone" text NOT NULL,
	"catch_up" text NOT NULL,
	"job" json NOT NULL,
	"paused_at" timestamp (6) with time zone,
	"next_at" timestamp (6) with time zone,
	"last_slot_at" timestamp (6) with time zone,
	"last_job_id" uuid,
	"created_at" timestamp (6) with time zone NOT NULL,
	"updated_at" timestamp (6) with time zone NOT NULL,
	"traceparent" text,
	"tracestate" text,
	CONSTRAINT "schedules_tenant_name_pk" PRIMARY KEY("tenant","name"),
	CONSTRAINT "schedules_catch_up_known" CHECK (catch_up IN ('none', 'one', 'all'))
);
--> statement-breakpoint
CREATE INDEX "schedules_next" ON "atlasqueue"."schedules" USING btree ("next_at") WHERE paused_at IS NULL;--> statement-breakpoint
CREATE TABLE "atlasqueue"."sessions" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"tenant" text COLLATE "C" NOT NULL,
	"token_id" uuid NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."signing_keys" (
	"name" text PRIMARY KEY NOT NULL,
	"key" "bytea" NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."tenants" (
	"tenant" text PRIMARY KEY NOT NULL,
	"email" text,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"submit_roles" text[],
	"cell" text,
	"moving_to" text
);
--> statement-breakpoint
CREATE TABLE "atlasqueue"."tokens" (
	"id" uuid NOT NULL,
	"tenant" text NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (6) with time zone,
	"last_used_at" timestamp (6) with time zone,
	"rotated_to" uuid,
	"own_expires_at" timestamp (6) with time zone,
	CONSTRAINT "tokens_tenant_id_pk" PRIMARY KEY("tenant","id"),
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "atlasqueue"."tokens" ADD CONSTRAINT "tokens_tenant_tenants_tenant_fk" FOREIGN KEY ("tenant") REFERENCES "atlasqueue"."tenants"("tenant") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "atlasqueue"."tokens" ADD CONSTRAINT "tokens_tenant_rotated_to_tokens_tenant_id_fk" FOREIGN KEY ("tenant","rotated_to") REFERENCES "atlasqueue"."tokens"("tenant","id") ON DELETE set null ("rotated_to") ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "atlasqueue"."sessions" ADD CONSTRAINT "sessions_tenant_token_id_tokens_tenant_id_fk" FOREIGN KEY ("tenant","token_id") REFERENCES "atlasqueue"."tokens"("tenant","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Tables without a key: PostgreSQL updates and deletes none of their rows while a publication has them.
ALTER TABLE "atlasqueue"."queue_changes" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "atlasqueue"."queue_starts" REPLICA IDENTITY FULL;--> statement-breakpoint
INSERT INTO "atlasqueue"."tenants" ("tenant") VALUES ('default');--> statement-breakpoint
-- Transactional submit. packages/core/decisions/2026-11-28-submit-in-sql.md says why it is a function.
CREATE FUNCTION "atlasqueue"."uuid_v7"() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  -- 48 bits of milliseconds, the version, 12 bits of the millisecond's fraction; the rest is random.
  SELECT encode(int8send(((us / 1000) << 16) | (7 << 12) | (us % 1000 * 4096 / 1000)) || substring(uuid_send(gen_random_uuid()) FROM 9), 'hex')::uuid
  FROM (SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint AS us) AS clock
$$;
--> statement-breakpoint
-- As `canonicalJson` of packages/contract writes it, for hashes that are the same.
CREATE FUNCTION "atlasqueue"."canonical_json"(value jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE number float8;
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN (SELECT '{' || coalesce(string_agg(to_json(key)::text || ':' || atlasqueue.canonical_json(item), ',' ORDER BY key COLLATE "C"), '') || '}'
              FROM jsonb_each(value) AS member(key, item));
    WHEN 'array' THEN
      RETURN (SELECT '[' || coalesce(string_agg(atlasqueue.canonical_json(item), ',' ORDER BY place), '') || ']'
              FROM jsonb_array_elements(value) WITH ORDINALITY AS member(item, place));
    WHEN 'number' THEN
      number := value::numeric::float8;
      -- JavaScript has an exponent only in smaller ones; larger ones than it has exactly are refused.
      IF number <> 0 AND abs(number) < 1e-6 THEN RETURN replace(number::text, 'e-0', 'e-'); END IF;
      RETURN trim_scale(number::text::numeric)::text;
    ELSE RETURN value::text;
  END CASE;
END $$;
--> statement-breakpoint
-- The instant of an RFC 3339 time, in milliseconds; null if it is none.
CREATE FUNCTION "atlasqueue"."rfc3339"(value text) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  parts text[] := regexp_match(value, '^([0-9]{4}-[0-9]{2}-[0-9]{2})T((?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,3})?)?)[0-9]*(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$');
  instant timestamptz;
BEGIN
  IF parts IS NULL OR value !~ '(:[0-9]{2}|\.[0-9]+)(Z|[+-][0-9:]+)$' OR NOT pg_input_is_valid(parts[1], 'date') THEN RETURN NULL; END IF;
  instant := ((parts[1] || ' ' || parts[2])::timestamp - CASE parts[3] WHEN 'Z' THEN interval '0' ELSE parts[3]::interval END) AT TIME ZONE 'UTC';
  RETURN CASE WHEN extract(year FROM instant AT TIME ZONE 'UTC') BETWEEN 1 AND 9999 THEN instant END;
END $$;
--> statement-breakpoint
CREATE FUNCTION "atlasqueue"."is_number"(value jsonb, low numeric, high numeric, is_whole boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'number'
    THEN value::numeric BETWEEN low AND high AND NOT (is_whole AND value::numeric % 1 <> 0) ELSE false END
$$;
--> statement-breakpoint
-- Text without control characters, line separators and marks of direction; characters are counted as JavaScript does.
CREATE FUNCTION "atlasqueue"."is_plain_text"(value jsonb, chars_max integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'string'
    THEN length(regexp_replace(value #>> '{}', '[\U00010000-\U0010FFFF]', 'xx', 'g')) BETWEEN 1 AND chars_max
         AND value #>> '{}' !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]' ELSE false END
$$;
--> statement-breakpoint
CREATE FUNCTION "atlasqueue"."are_tags"(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'array'
    THEN jsonb_array_length(value) BETWEEN 1 AND 8 AND NOT jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string" || !(@ like_regex "^[A-Za-z0-9._:-]{1,64}$"))')
         AND (SELECT count(*) = count(DISTINCT tag) FROM jsonb_array_elements(value) AS tag) ELSE false END
$$;
--> statement-breakpoint
-- Refuses what `POST /v1/jobs` refuses, in the same words.
CREATE FUNCTION "atlasqueue"."check_job"(type text, payload json, options jsonb) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  one record;
  fault text;
  body jsonb := payload::jsonb;
  bytes integer := octet_length(payload::text);
BEGIN
  IF jsonb_typeof(options) IS DISTINCT FROM 'object' THEN
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = '/options must be a JSON object', DETAIL = '/options';
  END IF;
  FOR one IN
    SELECT '/type' AS pointer, to_jsonb(check_job.type) AS value
    UNION ALL SELECT '/payload', body
    UNION ALL SELECT CASE WHEN key IN ('type', 'payload') THEN '/options/' ELSE '/' END || key, value FROM jsonb_each(check_job.options)
    UNION ALL SELECT '/backoff/' || key, value
      FROM jsonb_each(CASE WHEN jsonb_typeof(check_job.options -> 'backoff') = 'object' THEN '{"kind": null, "base_seconds": null}' || (check_job.options -> 'backoff') END)
    UNION ALL SELECT '/unique/' || key, value
      FROM jsonb_each(CASE WHEN jsonb_typeof(check_job.options -> 'unique') = 'object' THEN check_job.options -> 'unique' END)
  LOOP
    fault := CASE one.pointer
      WHEN '/type' THEN CASE WHEN atlasqueue.is_plain_text(one.value, 128) THEN '' ELSE 'a string of 1 to 128 characters without control characters, line separators and marks of direction' END
      WHEN '/payload' THEN CASE WHEN jsonb_typeof(one.value) = 'object' THEN '' ELSE 'a JSON object' END
      WHEN '/queue' THEN CASE WHEN jsonb_typeof(one.value) = 'string' AND one.value #>> '{}' ~ '^(?!\.\.?$)[A-Za-z0-9._:-]{1,128}$' THEN '' ELSE 'a string of 1 to 128 characters out of A-Z a-z 0-9 . _ : -, but neither . nor ..' END
      WHEN '/priority' THEN CASE WHEN atlasqueue.is_number(one.value, -1000, 1000, true) THEN '' ELSE 'an integer from -1000 to 1000, higher first' END
      WHEN '/max_attempts' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 25, true) THEN '' ELSE 'an integer from 1 to 25' END
      WHEN '/run_at' THEN CASE WHEN jsonb_typeof(one.value) = 'string' AND atlasqueue.rfc3339(one.value #>> '{}') IS NOT NULL THEN '' ELSE 'an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z' END
      WHEN '/delay_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 0, 31536000, false) THEN '' ELSE 'a number of seconds from 0 to 31536000' END
      WHEN '/timeout_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 86400, true) THEN '' ELSE 'an integer of seconds from 1 to 86400' END
      WHEN '/retention_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 315360000, true) THEN '' ELSE 'an integer of seconds from 1 to 315360000' END
      WHEN '/result_ttl_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 315360000, true) THEN '' ELSE 'an integer of seconds from 1 to 315360000' END
      WHEN '/expires_in' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 31536000, true) THEN '' ELSE 'an integer of seconds from 1 to 31536000' END
      WHEN '/group' THEN CASE WHEN atlasqueue.is_plain_text(one.value, 256) THEN '' ELSE 'a string of 1 to 256 characters without control characters, line separators and marks of direction' END
      WHEN '/tags' THEN CASE WHEN atlasqueue.are_tags(one.value) THEN '' ELSE 'a list of 1 to 8 different strings of 1 to 64 characters out of A-Z a-z 0-9 . _ : -' END
      WHEN '/backoff' THEN CASE WHEN jsonb_typeof(one.value) = 'object' THEN '' ELSE 'an object {kind, base_seconds, max_seconds?}' END
      WHEN '/backoff/kind' THEN CASE WHEN one.value IN ('"exponential"', '"fixed"') THEN '' ELSE '"exponential" or "fixed"' END
      WHEN '/backoff/base_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 0, 31536000, false) THEN '' ELSE 'a number of seconds from 0 to 31536000' END
      WHEN '/backoff/max_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 0, 31536000, false) THEN '' ELSE 'a number of seconds from 0 to 31536000' END
      WHEN '/unique' THEN CASE WHEN jsonb_typeof(one.value) = 'object' THEN '' ELSE 'an object {key?, scope?, window_seconds?, on_conflict?}' END
      WHEN '/unique/key' THEN CASE WHEN atlasqueue.is_plain_text(one.value, 256) THEN '' ELSE 'a string of 1 to 256 characters without control characters, line separators and marks of direction' END
      WHEN '/unique/scope' THEN CASE WHEN one.value IN ('"active"', '"window"') THEN '' ELSE '"active" or "window"' END
      WHEN '/unique/window_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 31536000, true) THEN '' ELSE 'an integer of seconds from 1 to 31536000' END
      WHEN '/unique/on_conflict' THEN CASE WHEN one.value IN ('"return"', '"replace"', '"reject"') THEN '' ELSE '"return", "replace" or "reject"' END
      WHEN '/idempotency_key' THEN CASE WHEN jsonb_typeof(one.value) = 'string' AND length(one.value #>> '{}') <= 512 AND one.value #>> '{}' ~ '^(?!schedule:) *[!-~][ -~]*$' THEN '' ELSE '1 to 512 printable ASCII characters that do not start with schedule:' END
      WHEN '/idempotency_ttl_seconds' THEN CASE WHEN atlasqueue.is_number(one.value, 1, 31536000, false) THEN '' ELSE 'a number of seconds from 1 to 31536000' END
      WHEN '/tenant' THEN CASE WHEN jsonb_typeof(one.value) = 'string' THEN '' ELSE 'the name of a tenant' END
      WHEN '/traceparent' THEN CASE WHEN jsonb_typeof(one.value) = 'string' AND one.value #>> '{}' ~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-3]$' THEN '' ELSE 'a traceparent of W3C Trace Context, version 00' END
      WHEN '/tracestate' THEN CASE WHEN jsonb_typeof(one.value) = 'string' AND length(one.value #>> '{}') <= 512 THEN '' ELSE 'a tracestate of W3C Trace Context of at most 512 characters' END
    END;
    IF fault = '' THEN CONTINUE; END IF;
    RAISE EXCEPTION USING ERRCODE = '22023', DETAIL = left(one.pointer, 200), MESSAGE = CASE
      WHEN fault IS NULL THEN left(one.pointer, 200) || ' is not a field of this request'
      WHEN one.value IS NULL THEN one.pointer || ' is required: ' || fault
      ELSE one.pointer || ' must be ' || fault || '; got ' || left(one.value::text, 100) END;
  END LOOP;
  fault := CASE
    WHEN options ? 'run_at' AND options ? 'delay_seconds' THEN '/delay_seconds must not be given together with run_at'
    WHEN options #>> '{unique,scope}' = 'window' AND options #> '{unique,window_seconds}' IS NULL THEN '/unique/window_seconds is required: an integer of seconds from 1 to 31536000'
    WHEN coalesce(options #>> '{unique,scope}', 'active') = 'active' AND options #> '{unique,window_seconds}' IS NOT NULL THEN '/unique/window_seconds must not be given without the scope "window"'
    WHEN payload IS NOT JSON WITH UNIQUE KEYS THEN '/payload must name each field of an object once'
    WHEN bytes > 262144 THEN '/payload must be at most 262144 bytes of JSON; got ' || bytes
    WHEN jsonb_path_exists(body, 'strict $.** ? (@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991))')
      THEN '/payload must have numbers within ±9007199254740991 (2^53 - 1); use a string for larger ones'
    WHEN jsonb_path_exists(body, 'strict $.**{63 to last} ? (@.type() == "object" || @.type() == "array")') THEN '/payload must not nest deeper than 63 levels'
  END;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = fault, DETAIL = split_part(fault, ' ', 1);
  END IF;
END $$;
--> statement-breakpoint
-- Who writes the tables may submit for each tenant; another role for the one of its grant.
CREATE FUNCTION "atlasqueue"."submitting_tenant"(asked text) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- As current_user is the owner in here.
  caller name := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role') END;
  granted text[];
BEGIN
  IF has_table_privilege(caller, 'atlasqueue.jobs', 'INSERT') THEN RETURN coalesce(asked, 'default'); END IF;
  SELECT array_agg(DISTINCT tenant) INTO granted FROM atlasqueue.tenants JOIN pg_roles ON rolname = ANY (submit_roles)
  WHERE pg_has_role(caller, oid, 'USAGE') AND tenant = coalesce(asked, tenant);
  IF cardinality(granted) = 1 THEN RETURN granted[1]; END IF;
  IF cardinality(granted) > 1 THEN
    RAISE EXCEPTION USING ERRCODE = '22023', DETAIL = '/tenant', MESSAGE = '/tenant is required: one of ' || array_to_string(granted, ', ');
  END IF;
  RAISE EXCEPTION USING ERRCODE = '42501', DETAIL = '/tenant', MESSAGE = format('the role %I may not submit jobs%s', caller, ' of the tenant ' || quote_literal(asked)),
    HINT = 'atlasqueue migrate --grant-submit ROLE --tenant TENANT';
END $$;
--> statement-breakpoint
-- What a job asks for, and its queue's defaults for what it does not name.
CREATE FUNCTION "atlasqueue"."terms_of"(of_tenant text, of_queue text, options jsonb) RETURNS jsonb LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT '{"max_attempts": 5}' || coalesce((SELECT defaults::jsonb FROM atlasqueue.queues WHERE tenant = of_tenant AND queue = of_queue), '{}') || options
$$;
--> statement-breakpoint
-- A job in the caller's transaction, which may stay open for long: it only inserts what nobody else needs. `outcome` is
-- created, replayed (the key's job), mismatch (another request had the key) or conflict (a unique job that is held).
CREATE FUNCTION "atlasqueue"."submit_job"(type text, payload json, options jsonb, OUT outcome text, OUT id uuid, OUT status text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  of_tenant text;
  of_queue text := coalesce(submit_job.options ->> 'queue', 'default');
  of_group text := submit_job.options ->> 'group';
  idem_key text := submit_job.options ->> 'idempotency_key';
  terms jsonb;
  starts timestamptz;
  request jsonb;
  request_hash text;
  unique_name text;
  found_hash text;
BEGIN
  PERFORM atlasqueue.check_job(submit_job.type, submit_job.payload, submit_job.options);
  of_tenant := atlasqueue.submitting_tenant(submit_job.options ->> 'tenant');
  -- A time in the past means now: a job must not get ahead of those that came before it.
  starts := greatest(now(), atlasqueue.rfc3339(submit_job.options ->> 'run_at'), now() + make_interval(secs => (submit_job.options ->> 'delay_seconds')::float8));

  IF idem_key IS NOT NULL THEN
    request := '{"queue": "default", "priority": 0}' || (submit_job.options - '{tenant,idempotency_key,idempotency_ttl_seconds,traceparent,tracestate}'::text[])
      || jsonb_build_object('type', submit_job.type);
    IF request ? 'run_at' THEN
      request := request || jsonb_build_object('run_at', to_char(atlasqueue.rfc3339(request ->> 'run_at') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    END IF;
    IF request ? 'unique' THEN
      request := request || jsonb_build_object('unique', '{"scope": "active", "on_conflict": "return"}' || (request -> 'unique'));
    END IF;
    request_hash := encode(sha256(convert_to(atlasqueue.canonical_json(request) || atlasqueue.canonical_json(submit_job.payload::jsonb), 'UTF8')), 'hex');
    -- First those that are not admitted: one that is admitted in between is found twice, not never.
    SELECT first.request_hash, jobs.id, jobs.status INTO found_hash, submit_job.id, submit_job.status
    FROM (SELECT outbox.key, outbox.payload ->> 'request_hash' AS request_hash FROM atlasqueue.outbox
          WHERE outbox.tenant = of_tenant AND outbox.payload ->> 'idempotency_key' = idem_key ORDER BY outbox.id LIMIT 1) AS first
    JOIN atlasqueue.jobs ON jobs.id = first.key::uuid;
    IF submit_job.id IS NULL THEN
      SELECT encode(keys.request_hash, 'hex'), jobs.id, jobs.status INTO found_hash, submit_job.id, submit_job.status
      FROM atlasqueue.idempotency_keys AS keys JOIN atlasqueue.jobs ON jobs.id = job_id
      WHERE keys.tenant = of_tenant AND keys.key = idem_key AND keys.expires_at > now();
    END IF;
    IF submit_job.id IS NOT NULL THEN
      outcome := CASE WHEN found_hash = request_hash THEN 'replayed' ELSE 'mismatch' END;
      RETURN;
    END IF;
  END IF;

  IF submit_job.options ? 'unique' THEN
    unique_name := coalesce('key:' || (submit_job.options #>> '{unique,key}'),
      'job:' || encode(sha256(convert_to(to_json(submit_job.type)::text || atlasqueue.canonical_json(submit_job.payload::jsonb), 'UTF8')), 'hex'));
    IF submit_job.options #>> '{unique,on_conflict}' = 'reject' THEN
      SELECT jobs.id, jobs.status INTO submit_job.id, submit_job.status FROM atlasqueue.jobs
      WHERE jobs.tenant = of_tenant AND jobs.queue = of_queue AND jobs.unique_key = unique_name
        AND NOT coalesce(jobs.unique_until <= now(), jobs.status IN ('succeeded', 'dead', 'cancelled'));
      IF submit_job.id IS NOT NULL THEN outcome := 'conflict'; RETURN; END IF;
    END IF;
  END IF;

  terms := atlasqueue.terms_of(of_tenant, of_queue, submit_job.options);
  id := atlasqueue.uuid_v7();
  outcome := 'created';
  status := CASE WHEN coalesce(idem_key, of_group, unique_name) IS NOT NULL THEN 'blocked' WHEN starts > now() THEN 'scheduled' ELSE 'queued' END;
  INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, run_at, created_at, updated_at,
    payload, traceparent, tracestate, status, ready_at, due_at, group_seq, group_key, expires_at, tags)
  VALUES (submit_job.id, of_tenant, of_queue, submit_job.type, coalesce((submit_job.options -> 'priority')::smallint, 0), (terms -> 'max_attempts')::smallint,
    (terms -> 'timeout_seconds')::integer, (terms -> 'backoff')::json, (terms -> 'retention_seconds')::integer, (terms -> 'result_ttl_seconds')::integer, starts, now(), now(),
    submit_job.payload, submit_job.options ->> 'traceparent', submit_job.options ->> 'tracestate', submit_job.status,
    CASE submit_job.status WHEN 'queued' THEN starts END, CASE submit_job.status WHEN 'scheduled' THEN starts END, CASE submit_job.status WHEN 'blocked' THEN 0 END, of_group,
    now() + make_interval(secs => (submit_job.options ->> 'expires_in')::float8),
    (SELECT array_agg(tag) FROM jsonb_array_elements_text(submit_job.options -> 'tags') AS tag));
  INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, scheduled, blocked)
  VALUES (of_tenant, of_queue, (submit_job.status = 'queued')::integer, (submit_job.status = 'scheduled')::integer, (submit_job.status = 'blocked')::integer);
  IF submit_job.status = 'blocked' THEN
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    VALUES ('admit', of_tenant, submit_job.id::text,
      CASE WHEN of_group IS NOT NULL THEN 'group ' || of_queue || E'\n' || of_group
           WHEN unique_name IS NOT NULL THEN 'unique ' || of_queue || E'\n' || unique_name ELSE 'key ' || idem_key END,
      jsonb_strip_nulls(jsonb_build_object('idempotency_key', idem_key, 'request_hash', request_hash,
        'key_ttl_seconds', CASE WHEN idem_key IS NOT NULL THEN coalesce(submit_job.options -> 'idempotency_ttl_seconds', '86400') END,
        'unique_key', unique_name, 'on_conflict', CASE WHEN unique_name IS NOT NULL THEN coalesce(submit_job.options #>> '{unique,on_conflict}', 'return') END,
        'window_seconds', submit_job.options #> '{unique,window_seconds}')));
  ELSE
    INSERT INTO atlasqueue.outbox (kind, tenant, payload)
    VALUES ('submitted', of_tenant, jsonb_build_object('queue', of_queue, 'type', submit_job.type, 'count', 1));
  END IF;
END $$;
--> statement-breakpoint
-- The same for people and triggers: the job's id, or an error.
CREATE FUNCTION "atlasqueue"."submit"(type text, payload json DEFAULT '{}', options jsonb DEFAULT '{}') RETURNS uuid LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE job record := atlasqueue.submit_job(type, payload, options);
BEGIN
  IF job.outcome = 'mismatch' THEN
    RAISE EXCEPTION USING ERRCODE = '23505', DETAIL = '/idempotency_key', MESSAGE = format('/idempotency_key %s was used for another job: %s', options -> 'idempotency_key', job.id);
  ELSIF job.outcome = 'conflict' THEN
    RAISE EXCEPTION USING ERRCODE = '23505', DETAIL = '/unique', MESSAGE = format('/unique the job %s has this unique key', job.id);
  END IF;
  RETURN job.id;
END $$;
--> statement-breakpoint
-- Jobs that wait for one another, in the caller's transaction: their ids in the order of the list, then that of `then`. Those
-- that wait for none are submitted like any other; the rest is stored as `POST /v1/jobs/batch` stores it. Before the commit
-- no other transaction sees a job of the flow, so nothing is locked.
CREATE FUNCTION "atlasqueue"."submit_flow"(jobs json, options jsonb DEFAULT '{}') RETURNS uuid[] LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  of_tenant text;
  is_flow boolean;
  flow uuid := atlasqueue.uuid_v7();
  one record;
  job record;
  fault text;
  ids uuid[] := '{}';
  refs text[] := '{}';
  -- An edge each: the name of the parent and its place, the place of the child, and which of its parents it is.
  names text[] := '{}';
  parents integer[];
  children integer[] := '{}';
  nths integer[] := '{}';
  open_parents integer[];
  open_children integer[];
  open_edges integer;
BEGIN
  fault := CASE
    WHEN jsonb_typeof(submit_flow.options) IS DISTINCT FROM 'object' THEN '/options must be a JSON object'
    WHEN submit_flow.options - '{tenant,then}'::text[] <> '{}'
      THEN left((SELECT min('/' || key) FROM jsonb_object_keys(submit_flow.options - '{tenant,then}'::text[]) AS key), 200) || ' is not a field of this request'
    WHEN jsonb_typeof(submit_flow.options -> 'tenant') <> 'string' THEN '/tenant must be the name of a tenant'
    WHEN json_typeof(submit_flow.jobs) IS DISTINCT FROM 'array' THEN '/jobs must be a list of 1 to 1000 jobs'
    WHEN json_array_length(submit_flow.jobs) NOT BETWEEN 1 AND 1000 THEN '/jobs must be a list of 1 to 1000 jobs; got ' || json_array_length(submit_flow.jobs)
  END;
  IF fault IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = fault, DETAIL = split_part(fault, ' ', 1); END IF;
  of_tenant := atlasqueue.submitting_tenant(submit_flow.options ->> 'tenant');
  is_flow := submit_flow.options ? 'then' OR jsonb_path_exists(submit_flow.jobs::jsonb, '$[*].depends_on[0]');

  -- One block around them all: a block that catches errors is a subtransaction.
  BEGIN
    FOR one IN
      SELECT '/jobs/' || place - 1 AS pointer, place::integer, false AS is_then, member, member::jsonb AS body
      FROM json_array_elements(submit_flow.jobs) WITH ORDINALITY AS list(member, place)
      UNION ALL SELECT '/then', json_array_length(submit_flow.jobs) + 1, true, (submit_flow.options -> 'then')::json, submit_flow.options -> 'then'
      WHERE submit_flow.options ? 'then'
    LOOP
      fault := CASE
        WHEN jsonb_typeof(one.body) <> 'object' THEN ' must be a JSON object'
        WHEN one.body ?| '{tenant,idempotency_key,idempotency_ttl_seconds}'
          THEN (SELECT '/' || key || ' is not a field of this request' FROM jsonb_object_keys(one.body) AS key WHERE key IN ('tenant', 'idempotency_key', 'idempotency_ttl_seconds') LIMIT 1)
        WHEN jsonb_typeof(one.body -> 'type') <> 'string' THEN '/type must be a string'
        WHEN is_flow AND one.body ? 'unique' AND one.body #>> '{unique,on_conflict}' IS DISTINCT FROM 'reject' THEN '/unique/on_conflict must be "reject" for a job in a flow'
        WHEN one.is_then THEN CASE WHEN one.body ? 'unique' THEN '/unique must be left out for a job that waits for others' END
        WHEN one.body ? 'ref' AND NOT (jsonb_typeof(one.body -> 'ref') = 'string'
            AND one.body ->> 'ref' ~ '^(?![0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$)[A-Za-z0-9._:-]{1,128}$')
          THEN '/ref must be a string of 1 to 128 characters out of A-Z a-z 0-9 . _ : -, and not a UUID; got ' || left(one.body ->> 'ref', 100)
        WHEN one.body ->> 'ref' = ANY (refs) THEN '/ref must not be that of /jobs/' || array_position(refs, one.body ->> 'ref') - 1 || ' too; got ' || (one.body -> 'ref')
        WHEN one.body ? 'on_parent_failure' AND NOT one.body ? 'depends_on' THEN '/on_parent_failure must not be given without depends_on'
        WHEN one.body ? 'on_parent_failure' AND one.body -> 'on_parent_failure' NOT IN ('"cancel"', '"wait"', '"run"') THEN '/on_parent_failure must be "cancel", "wait" or "run"; got ' || left(one.body ->> 'on_parent_failure', 100)
        WHEN NOT one.body ? 'depends_on' THEN NULL
        WHEN jsonb_typeof(one.body -> 'depends_on') <> 'array' OR jsonb_path_exists(one.body, '$.depends_on[*] ? (@.type() != "string")') THEN '/depends_on must be a list of up to 10000 refs of jobs in this list'
        WHEN one.body ? 'unique' AND one.body -> 'depends_on' <> '[]' THEN '/unique must be left out for a job that waits for others'
      END;
      IF fault IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = fault, DETAIL = split_part(fault, ' ', 1); END IF;
      refs := refs || (one.body ->> 'ref');
      SELECT one.body ->> 'type' AS type, coalesce(one.member -> 'payload', '{}') AS payload,
        one.body - CASE WHEN one.is_then THEN '{type,payload}' ELSE '{type,payload,ref,depends_on,on_parent_failure}' END::text[] AS options INTO job;
      IF one.is_then OR one.body -> 'depends_on' <> '[]' THEN
        PERFORM atlasqueue.check_job(job.type, job.payload, job.options);
        ids := ids || atlasqueue.uuid_v7();
        SELECT names || array_agg(name #>> '{}' ORDER BY nth), children || array_agg(one.place ORDER BY nth), nths || array_agg(nth::integer - 1 ORDER BY nth)
        INTO names, children, nths FROM jsonb_array_elements(CASE WHEN NOT one.is_then THEN one.body -> 'depends_on' END) WITH ORDINALITY AS list(name, nth);
      ELSE
        SELECT * INTO job FROM atlasqueue.submit_job(job.type, job.payload, job.options || jsonb_build_object('tenant', of_tenant));
        IF job.outcome = 'conflict' THEN
          RAISE EXCEPTION USING ERRCODE = '23505', DETAIL = '/unique', MESSAGE = format('/unique the job %s has this unique key', job.id);
        END IF;
        ids := ids || job.id;
      END IF;
    END LOOP;
  EXCEPTION WHEN invalid_parameter_value OR unique_violation THEN
    GET STACKED DIAGNOSTICS fault = MESSAGE_TEXT;
    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = one.pointer || fault, DETAIL = one.pointer || CASE WHEN fault LIKE '/%' THEN split_part(fault, ' ', 1) ELSE '' END;
  END;
  IF NOT is_flow THEN RETURN ids; END IF;

  SELECT array_agg(ref.place::integer ORDER BY edge.place) INTO parents
  FROM unnest(names) WITH ORDINALITY AS edge(name, place) LEFT JOIN unnest(refs) WITH ORDINALITY AS ref(name, place) USING (name);
  SELECT format('/jobs/%s/depends_on/%s %s; got %s', child - 1, nth, says, to_json(left(name, 100))) INTO fault
  FROM (SELECT child, nth, name, CASE
          WHEN parent IS NULL THEN 'must be the ref of a job in this list'
          WHEN parent = child THEN 'must not be the job itself'
          WHEN row_number() OVER (PARTITION BY child, name ORDER BY nth) > 1 THEN 'must not be named twice' END AS says
        FROM unnest(parents, children, nths, names) AS edge(parent, child, nth, name)) AS edge
  WHERE says IS NOT NULL ORDER BY child, nth LIMIT 1;
  IF cardinality(names) > 10000 THEN fault := '/jobs must not wait for more than 10000 jobs, counting each as often as it is named; got ' || cardinality(names); END IF;
  -- A circle has an edge from a later job to an earlier one. Edges from jobs that wait for none, and to jobs that none waits
  -- for, are in no circle.
  open_parents := parents;
  open_children := children;
  WHILE fault IS NULL AND EXISTS (SELECT FROM unnest(open_parents, open_children) AS edge(parent, child) WHERE parent > child) LOOP
    open_edges := cardinality(open_parents);
    SELECT array_agg(parent), array_agg(child) INTO open_parents, open_children FROM unnest(open_parents, open_children) AS edge(parent, child)
    WHERE parent IN (SELECT unnest(open_children)) AND child IN (SELECT unnest(open_parents));
    IF cardinality(open_parents) < open_edges OR open_parents IS NULL THEN CONTINUE; END IF;
    SELECT format('/jobs/%s/depends_on/%s must not make jobs wait for one another in a circle; got %s', child - 1, nth, to_json(name)) INTO fault
    FROM unnest(parents, children, nths, names) AS edge(parent, child, nth, name) WHERE child = (SELECT min(c) FROM unnest(open_children) AS c) AND parent IN (SELECT unnest(open_children)) LIMIT 1;
  END LOOP;
  IF fault IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = fault, DETAIL = split_part(fault, ' ', 1); END IF;

  WITH members AS MATERIALIZED (
    SELECT place::integer, ids[place::integer] AS id, refs[place::integer] AS ref, member, atlasqueue.terms_of(of_tenant, coalesce(member ->> 'queue', 'default'), member::jsonb) AS body,
      coalesce(member ->> 'on_parent_failure', 'cancel') AS policy
    FROM json_array_elements(submit_flow.jobs) WITH ORDINALITY AS list(member, place)
    UNION ALL SELECT cardinality(ids), ids[cardinality(ids)], NULL, (submit_flow.options -> 'then')::json, atlasqueue.terms_of(of_tenant, coalesce(submit_flow.options #>> '{then,queue}', 'default'), submit_flow.options -> 'then'), 'run' WHERE submit_flow.options ? 'then'
  ), edges AS MATERIALIZED (
    SELECT parent, child, nth FROM unnest(parents, children, nths) AS edge(parent, child, nth)
    UNION ALL SELECT place, cardinality(ids), place FROM generate_series(1, cardinality(ids) - 1) AS place WHERE submit_flow.options ? 'then'
  ), ties AS MATERIALIZED (
    SELECT parents.id AS parent, coalesce(parents.ref, parents.id::text) AS ref, children.id AS child, children.policy, nth
    FROM edges JOIN members AS parents ON parents.place = edges.parent JOIN members AS children ON children.place = edges.child
  ), roots AS (
    UPDATE atlasqueue.jobs SET flow_id = flow, has_children = CASE WHEN id IN (SELECT parent FROM ties) THEN true END
    WHERE id = ANY (ARRAY(SELECT id FROM members WHERE id NOT IN (SELECT child FROM ties)))
  ), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, run_at, created_at, updated_at,
      payload, traceparent, tracestate, status, group_seq, group_key, flow_id, has_children, expires_at, tags)
    SELECT id, of_tenant, coalesce(body ->> 'queue', 'default'), body ->> 'type', coalesce((body -> 'priority')::smallint, 0), (body -> 'max_attempts')::smallint,
      (body -> 'timeout_seconds')::integer, (body -> 'backoff')::json, (body -> 'retention_seconds')::integer, (body -> 'result_ttl_seconds')::integer,
      greatest(now(), atlasqueue.rfc3339(body ->> 'run_at'), now() + make_interval(secs => (body ->> 'delay_seconds')::float8)), now(), now(),
      coalesce(member -> 'payload', '{}'), body ->> 'traceparent', body ->> 'tracestate', 'blocked', 0, body ->> 'group', flow, CASE WHEN id IN (SELECT parent FROM ties) THEN true END,
      now() + make_interval(secs => (body ->> 'expires_in')::float8), (SELECT array_agg(tag) FROM jsonb_array_elements_text(body -> 'tags') AS tag)
    FROM members WHERE id IN (SELECT child FROM ties)
    RETURNING queue, type
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, blocked) SELECT of_tenant, queue, count(*) FROM made GROUP BY queue
  ), submitted AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, payload)
    SELECT 'submitted', of_tenant, jsonb_build_object('queue', queue, 'type', type, 'count', count(*)) FROM made GROUP BY queue, type
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure) SELECT of_tenant, parent, child, policy FROM ties
  )
  INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, ref, on_parent_failure, parents)
  SELECT of_tenant, id, flow, place - 1, members.ref, policy, coalesce(awaited, '[]')
  FROM members LEFT JOIN (SELECT child, json_agg(json_build_object('ref', ref, 'id', parent) ORDER BY nth) AS awaited FROM ties GROUP BY child) AS tied ON child = id;
  RETURN ids;
END $$;
--> statement-breakpoint
-- For the owner: the role then submits jobs of this tenant only.
CREATE FUNCTION "atlasqueue"."grant_submit"(role text, of_tenant text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO %I', (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'atlasqueue.tenants'::regclass), role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION atlasqueue.submit(text, json, jsonb), atlasqueue.submit_job(text, json, jsonb), atlasqueue.submit_flow(json, jsonb) TO %I', role);
  INSERT INTO atlasqueue.tenants (tenant) SELECT 'default' WHERE of_tenant = 'default' ON CONFLICT DO NOTHING;
  IF NOT EXISTS (SELECT FROM atlasqueue.tenants WHERE tenant = of_tenant) THEN
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('there is no tenant %s; create it first', to_json(of_tenant));
  END IF;
  UPDATE atlasqueue.tenants
  SET submit_roles = array_remove(submit_roles, role) || CASE WHEN tenant = of_tenant THEN ARRAY[role] ELSE '{}' END
  WHERE tenant = of_tenant OR role = ANY (submit_roles);
END $$;
--> statement-breakpoint
-- The planner's statistics of a table, refreshed by a role that does not own it.
CREATE FUNCTION "atlasqueue"."refresh_statistics"(of_table name) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('ANALYZE (SKIP_LOCKED) atlasqueue.%I', of_table);
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION "atlasqueue"."refresh_statistics"(name), "atlasqueue"."grant_submit"(text, text) FROM PUBLIC;
--> statement-breakpoint
REVOKE ALL ON FUNCTION "atlasqueue"."submit"(text, json, jsonb), "atlasqueue"."submit_job"(text, json, jsonb), "atlasqueue"."submit_flow"(json, jsonb), "atlasqueue"."submitting_tenant"(text) FROM PUBLIC;
