import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { limits, type CreateSchedule, type TraceContext } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { readCron } from "./cron/cron.ts";
import { findSchedule, type SeenSchedule } from "./list.ts";

export type StoreOutcome =
  | { kind: "created" | "replaced"; schedule: SeenSchedule }
  | { kind: "exists" }
  /** The tenant already has `limits.schedules_max`. */
  | { kind: "too_many" };

/**
 * Create a schedule, whose first slot is the next one from now, or replace one, unless it `replaces` none. Its jobs link to `trace`, otherwise to the span active here. With the same cron and time zone as before, it keeps its position: a deployment
 * that puts it again forgets nothing it missed. Otherwise it goes on with the next slot from now. Paused stays paused.
 *
 * @example
 * const outcome = await putSchedule(deps, "default", definition);
 */
export async function putSchedule(
  deps: Deps,
  tenant: string,
  { name, cron, timezone, catch_up, job }: CreateSchedule,
  trace?: TraceContext,
  replaces = true,
): Promise<StoreOutcome> {
  const execute = executeOn(deps.database);
  const traced = trace ?? deps.tracing?.active();
  const [clock] = await execute<{ now: Date }>({ text: "SELECT now() AS now", params: [] });
  const [next_at] = readCron(cron, timezone).after(clock?.now ?? new Date(Number.NaN), 1);
  const [row] = await execute<SeenSchedule & { created: boolean }>({
    text,
    params: [
      tenant,
      name,
      cron,
      timezone,
      catch_up,
      JSON.stringify(job),
      next_at?.toISOString() ?? "",
      traced?.traceparent ?? "",
      traced?.tracestate ?? "",
      String(replaces),
    ],
  });
  if (!row) return (await findSchedule(deps, { tenant, name })) ? { kind: "exists" } : { kind: "too_many" };
  const { created, ...schedule } = row;
  const kind = created ? "created" : "replaced";
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: kind });
  return { kind, schedule };
}

// Concurrent calls may exceed the limit by their number: it bounds the sweep's work, and is not a quota.
const text = composed(
  "schedules/store",
  ["tenant", "name", "cron", "timezone", "catch_up", "job", "next_at", "traceparent", "tracestate", "replaces"],
  `
  INSERT INTO atlasqueue.schedules AS known (tenant, name, cron, timezone, catch_up, job, next_at, traceparent, tracestate, created_at, updated_at)
  SELECT $1, $2::text, $3, $4, $5, $6::text::json, nullif($7::text, '')::timestamptz, nullif($8::text, ''), nullif($9::text, ''), now(), now()
  WHERE ${lockTimeout} AND (EXISTS (SELECT FROM atlasqueue.schedules WHERE tenant = $1 AND name = $2::text)
     OR (SELECT count(*) FROM atlasqueue.schedules WHERE tenant = $1) < ${limits.schedules_max})
  ON CONFLICT (tenant, name) DO UPDATE SET
    next_at = CASE WHEN known.cron = excluded.cron AND known.timezone = excluded.timezone
                   THEN known.next_at ELSE excluded.next_at END,
    cron = excluded.cron, timezone = excluded.timezone, catch_up = excluded.catch_up, job = excluded.job,
    traceparent = excluded.traceparent, tracestate = excluded.tracestate, updated_at = now()
  WHERE $10::text::bool
  RETURNING known.*, now() AS seen_at, known.xmax = 0 AS created`,
);
