import { composed } from "../database/composed.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { dueAt } from "../operations/rows.ts";

/** What a sweep would find. Times are milliseconds from now, negative when past, null when there is none. */
export type DueSummary = {
  due_in_ms: number | null;
  schedule_in_ms: number | null;
  lease_check_in_ms: number | null;
  operation_in_ms: number | null;
  any_expired: boolean;
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
const parts: Record<keyof DueSummary, string> = {
  due_in_ms: "(extract(epoch FROM (SELECT min(due_at) FROM atlasqueue.jobs) - now()) * 1000)::float8",
  schedule_in_ms: `
    (extract(epoch FROM (SELECT min(next_at) FROM atlasqueue.schedules WHERE paused_at IS NULL) - now()) * 1000)::float8`,
  lease_check_in_ms: `
    (extract(epoch FROM (SELECT check_at FROM atlasqueue.claims ORDER BY check_at LIMIT 1) - now()) * 1000)::float8`,
  operation_in_ms: `
    (extract(epoch FROM (SELECT min(${dueAt}) FROM atlasqueue.operations WHERE status = 'running') - now()) * 1000)::float8`,
  any_expired: "coalesce((SELECT min(expires_at) FROM atlasqueue.jobs WHERE attempts = 0) <= now(), false)",
  any_queued:
    "(SELECT true FROM atlasqueue.jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1) IS NOT NULL",
  any_changes: "EXISTS (SELECT FROM atlasqueue.queue_changes)",
  newest_dead: "(SELECT max(dead_at) FROM atlasqueue.jobs)",
  any_overdue_groups:
    "(SELECT true FROM atlasqueue.job_groups WHERE overdue_at <= now() ORDER BY tenant, overdue_at LIMIT 1) IS NOT NULL",
  any_outbox: "EXISTS (SELECT FROM atlasqueue.outbox)",
};
const text = composed(
  "maintenance/due-summary",
  [],
  `SELECT ${Object.entries(parts)
    .map(([name, part]) => `${part} AS ${name}`)
    .join(", ")}`,
);

/** What a sweep would find, in one cheap statement: an idle system sends the database one query each second or two. */
export async function readDueSummary({ database }: Pick<Deps, "database">): Promise<DueSummary> {
  const [row] = await executeOn(database)<DueSummary>({ text, params: [] });
  if (!row) throw new Error("the due summary gave no row");
  return row;
}

/** An index may be full of dead entries that an open snapshot keeps. Then a sweep does all its duties, each with its own deadline. */
const summary_ms_max = 1_000;

/** The same for a sweep: nothing of it is known if the database has not answered within a second. */
export async function dueSummaryInTime({ database }: Pick<Deps, "database">): Promise<Partial<DueSummary>> {
  const timeout_ms = Math.min(summary_ms_max, database.timeout_ms);
  return readDueSummary({ database: { ...database, timeout_ms } }).catch((error: unknown) => {
    if (error instanceof DatabaseTimeoutError) return {};
    throw error;
  });
}
