import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** How long finished jobs are kept, in hours. Cancelled ones count as succeeded ones. */
export type JobRetention = { succeededHours: number; deadHours: number };

/** And the audit trail: 90 days by default. */
export type Retention = JobRetention & { auditHours?: number };

export const default_audit_hours = 2_160;
export const defaultRetention: Retention = { succeededHours: 168, deadHours: 720 };

/** Which jobs a walk looks at: with `own` those with times of their own, by their index, and only these before the settings' time. */
export const walked = { all: "", own: " AND (retention_seconds IS NOT NULL OR result_ttl_seconds IS NOT NULL)" };
export type Walked = keyof typeof walked;

/**
 * A page of a walk, as `old`: up to $3 jobs with ids between $1 and $2. `which` is the parameter that says which jobs; the search for
 * the others does not begin.
 */
export const walkedPage = (which: `$${number}`) => {
  const search = (one: Walked) => `(
    SELECT id FROM atlasqueue.jobs WHERE ${which}::text = '${one}'
      AND id > $1::text::uuid AND id < $2::text::uuid${walked[one]} ORDER BY id LIMIT $3::int)`;
  return `old AS MATERIALIZED (${search("all")} UNION ALL ${search("own")})`;
};

/**
 * The smallest UUIDv7 that could have been made at a time: ids below it belong to jobs created earlier.
 *
 * @example
 * firstIdAt(new Date("2026-11-20T00:00:00Z")); // "019a9eb0-5c00-7000-8000-000000000000"
 */
export function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/**
 * The same for a time that is so many seconds from now, or before now, by the database's clock: this machine's may be anything.
 *
 * @example
 * const before = await firstIdFromNow(deps, -3_600);
 */
export async function firstIdFromNow(deps: Pick<Deps, "database">, seconds: number): Promise<string> {
  const [clock] = await executeOn(deps.database)<{ time: Date }>({
    text: "SELECT now() + make_interval(secs => $1::float8) AS time",
    params: [seconds],
  });
  return firstIdAt(clock?.time ?? new Date(0));
}
