import { composed } from "../database/composed.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { dueAt } from "../operations/rows.ts";

/** What a sweep would find. Times are milliseconds from now, negative when past, null when there is none. */
export type SweepOutlook = {
  due_in_ms: number | null;
  schedule_in_ms: number | null;
  lease_check_in_ms: number | null;
  operation_in_ms: number | null;
  any_queued: boolean;
  any_changes: boolean;
  newest_dead: Date | null;
  any_overdue_groups: boolean;
  any_outbox: boolean;
};

/**
 * Each reads one end of an index; for ready jobs the end with the newest, as the other holds the dead entries of
 * claimed jobs.
 */
const parts: Record<keyof SweepOutlook, string> = {
  due_in_ms: "(extract(epoch FROM (SELECT min(due_at) FROM atlasqueue.jobs) - now()) * 1000)::float8",
  schedule_in_ms: `
    (extract(epoch FROM (SELECT min(next_at) FROM atlasqueue.schedules WHERE paused_at IS NULL) - now()) * 1000)::float8`,
  lease_check_in_ms: `
    (extract(epoch FROM (SELECT check_at FROM atlasqueue.claims ORDER BY check_at LIMIT 1) - now()) * 1000)::float8`,
  operation_in_ms: `
    (extract(epoch FROM (SELECT min(${dueAt}) FROM atlasqueue.operations WHERE status = 'running') - now()) * 1000)::float8`,
  any_queued:
    "(SELECT true FROM atlasqueue.jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1) IS NOT NULL",
  any_changes: "EXISTS (SELECT FROM atlasqueue.queue_changes)",
  newest_dead: "(SELECT max(dead_at) FROM atlasqueue.jobs)",
  any_overdue_groups:
    "(SELECT true FROM atlasqueue.job_groups WHERE overdue_at <= now() ORDER BY tenant, overdue_at LIMIT 1) IS NOT NULL",
  any_outbox: "EXISTS (SELECT FROM atlasqueue.outbox)",
};
type Part = keyof SweepOutlook;
const names = Object.keys(parts) as Part[];

const textOf = (asked: readonly Part[]) => `SELECT ${asked.map((name) => `${parts[name]} AS ${name}`).join(", ")}`;
const whole = composed("maintenance/outlook", [], textOf(names));
const due = textOf(["due_in_ms", "schedule_in_ms"]);

/** After this time, the parts are asked for one by one: one of them is slow. */
const together_ms_max = 500;
const apart_ms_max = 2_000;
/** How long they are asked for one by one then. */
const apart_for_ms = 60_000;
/** At once, from a pool that has other work. */
const lanes_max = 2;

export type Outlook = {
  /** The parts answered in time. Throws when none was: the database is away. */
  look(): Promise<Partial<SweepOutlook>>;
  /** When the next job and the next slot of a schedule are due. */
  nextDue(): Promise<Pick<SweepOutlook, "due_in_ms" | "schedule_in_ms">>;
};

/**
 * One cheap statement, so that an idle system sends the database one query a second. An index may be full of dead
 * entries kept by an open snapshot: then its part becomes slow, and the other parts must not wait for it. So when the
 * statement is late, each part is asked for separately, with its own deadline.
 *
 * @example
 * const { due_in_ms } = await createOutlook(deps).look();
 */
export function createOutlook(deps: Pick<Deps, "database">): Outlook {
  let apart_until = -Infinity;

  const ask = async (text: string, ms_max: number): Promise<Partial<SweepOutlook>> => {
    const database = { ...deps.database, timeout_ms: Math.min(ms_max, deps.database.timeout_ms) };
    const [row] = await executeOn(database)<Partial<SweepOutlook>>({ text, params: [] });
    return row ?? {};
  };

  const askApart = async (): Promise<Partial<SweepOutlook>> => {
    const left = [...names];
    const known: Partial<SweepOutlook> = {};
    let reason: unknown;
    const lane = async () => {
      for (let name = left.shift(); name; name = left.shift())
        await ask(textOf([name]), apart_ms_max).then(
          (answer) => Object.assign(known, answer),
          (error: unknown) => (reason = error),
        );
    };
    await Promise.all(Array.from({ length: lanes_max }, lane));
    if (Object.keys(known).length === 0) throw reason;
    return known;
  };

  return {
    async look() {
      if (performance.now() >= apart_until)
        try {
          return await ask(whole, together_ms_max);
        } catch (error) {
          if (!(error instanceof DatabaseTimeoutError)) throw error;
          apart_until = performance.now() + apart_for_ms;
        }
      return askApart();
    },
    async nextDue() {
      const { due_in_ms = null, schedule_in_ms = null } = await ask(due, apart_ms_max);
      return { due_in_ms, schedule_in_ms };
    },
  };
}
