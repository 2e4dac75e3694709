import { connectDatabase, type Sql } from "@atlasqueue/core";
import { limits, type JsonObject } from "@atlasqueue/contract";
import { Trouble } from "../exit.ts";
import type { Found, Source } from "./source.ts";

const page_max = 1_000;
const undefined_table = "42P01";

/** The columns that are read. Some are missing in older versions. */
type Row = {
  id: string;
  name: string;
  state: string;
  data: unknown;
  priority: number;
  retry_limit: number;
  retry_count: number;
  retry_delay: number;
  retry_backoff: boolean;
  retry_delay_max?: number | null;
  expire_seconds?: number;
  singleton_key: string | null;
  start_after: string;
  policy?: string | null;
  blocked?: boolean;
};
type Retries = Pick<
  Row,
  "priority" | "retry_limit" | "retry_delay" | "retry_backoff" | "retry_delay_max" | "expire_seconds"
>;
type ScheduleRow = {
  name: string;
  key?: string;
  cron: string;
  timezone: string | null;
  data: unknown;
  options: Options;
};
type Options = { priority?: number; retryLimit?: number; retryDelay?: number; retryBackoff?: boolean } | null;

/** The jobs and schedules of pg-boss 10 to 12, of all its queues or of one. */
export function pgBossSource(url: string, schema: string, queue?: string): Source {
  const database = connectDatabase({ url, connectionsMax: 1, timeoutMs: 60_000, preparedStatements: false });
  const { sql } = database;
  return {
    name: queue === undefined ? "pg-boss" : `pg-boss queue ${queue}`,
    async *read() {
      try {
        yield* jobs(sql, schema, queue);
        yield* schedules(sql, schema, queue);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== undefined_table) throw error;
        throw new Trouble(`The schema ${schema} has no tables of pg-boss. Check --schema.`, { cause: error });
      }
    },
    close: () => database.close(),
  };
}

async function* jobs(sql: Sql, schema: string, queue?: string): AsyncGenerator<Found> {
  const only = queue === undefined ? sql`NOT starts_with(name, '__pgboss__')` : sql`name = ${queue}`;
  for (let [name, id] = ["", "00000000-0000-0000-0000-000000000000"]; ;) {
    const rows = await sql<{ job: Row }[]>`
      SELECT to_jsonb(j) AS job FROM ${sql(schema)}.job j
      WHERE state IN ('created', 'retry', 'active') AND ${only} AND (name, id) > (${name}, ${id}::uuid)
      ORDER BY name, id LIMIT ${page_max}`;
    for (const { job } of rows) yield jobOf(job);
    const last = rows.at(-1)?.job;
    if (!last) return;
    [name, id] = [last.name, last.id];
  }
}

function jobOf(row: Row): Found {
  const { id, name, data, singleton_key } = row;
  const leave = (reason: string): Found => ({ kind: "left", id, reason });
  if (row.state === "active") return leave("It is running. Let its worker end it.");
  if (row.blocked) return leave("It waits for other jobs of a flow. Let the flow end.");
  if (!isObject(data)) return leave("Its data is no JSON object.");
  // The fetch after a failure counts it, so that of a job in `retry` is not counted yet.
  const retries_made = row.retry_count + (row.state === "retry" ? 1 : 0);
  const job = {
    ...templateOf(name, data, { ...row, retry_limit: Math.max(0, row.retry_limit - retries_made) }),
    run_at: row.start_after,
    idempotency_key: `pgboss:${id}`,
    ...(row.policy === "key_strict_fifo" && singleton_key !== null && { group: singleton_key }),
  };
  const state = row.state === "retry" ? "retrying" : Date.parse(row.start_after) > Date.now() ? "delayed" : "waiting";
  return { kind: "job", state, id, job };
}

async function* schedules(sql: Sql, schema: string, queue?: string): AsyncGenerator<Found> {
  const only = queue === undefined ? sql`true` : sql`q.name = ${queue}`;
  const rows = await sql<{ schedule: ScheduleRow; queue: Retries }[]>`
    SELECT to_jsonb(s) AS schedule, to_jsonb(q) AS queue
    FROM ${sql(schema)}.schedule s JOIN ${sql(schema)}.queue q USING (name) WHERE ${only} ORDER BY q.name`;
  for (const { schedule, queue: defaults } of rows) {
    const { name, key = "", cron, timezone, data, options } = schedule;
    const { priority = 0, retryLimit: retry_limit = defaults.retry_limit } = options ?? {};
    const { retryDelay: retry_delay = defaults.retry_delay } = options ?? {};
    const { retryBackoff: retry_backoff = defaults.retry_backoff } = options ?? {};
    const id = key === "" ? name : `${name}:${key}`;
    if (isObject(data)) {
      const job = templateOf(name, data, { ...defaults, priority, retry_limit, retry_delay, retry_backoff });
      yield { kind: "schedule", id, schedule: { name: id, cron, timezone: timezone ?? "UTC", job } };
    } else yield { kind: "left", id, reason: "The data of the schedule is no JSON object." };
  }
}

const isObject = (data: unknown) => data === null || (typeof data === "object" && !Array.isArray(data));

/** pg-boss begins an exponential backoff at its delay, AtlasQueue at twice its base. */
function templateOf(name: string, data: unknown, retries: Retries) {
  const { priority, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds } = retries;
  return {
    type: name,
    queue: name,
    payload: (data ?? {}) as JsonObject,
    priority: Math.min(Math.max(priority, limits.priority_min), limits.priority_max),
    max_attempts: Math.min(retry_limit + 1, limits.attempts_max),
    backoff: retry_backoff
      ? { kind: "exponential" as const, base_seconds: Math.max(retry_delay, 1) / 2, ...maxOf(retry_delay_max) }
      : { kind: "fixed" as const, base_seconds: retry_delay },
    ...(expire_seconds && { timeout_seconds: Math.min(expire_seconds, limits.timeout_seconds_max) }),
  };
}

const maxOf = (max_seconds: number | null | undefined) => (max_seconds ? { max_seconds } : {});
