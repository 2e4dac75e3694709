import { composed } from "../database/composed.ts";
import { isLocked } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageParameters, pageParams, type DeadPage, type DeadPlace } from "./pages.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { startAnew } from "../jobs/start-anew.ts";
import { reachedFrom, takeDead } from "./take.ts";

/** `found` is how many matched, `ids` those replayed, `ready` those of them to be signalled. */
export type Replayed = { found: number; reached: DeadPlace | null; ids: string[]; ready: ReadyJob[] };

/** Rows locked at once: 20 ms, so that nothing waits for a replay of a hundred thousand. */
const rows_max = 500;

/**
 * dead → queued (or blocked, in a group), now and as if they were new: one step over dead letters, longest dead first.
 * Locked ones are found and skipped, as are those in groups when an open transaction is adding to one: a later call
 * finds them again.
 *
 * @example
 * const { ready } = await replay(deps, page);
 */
export async function replay(deps: Deps, page: DeadPage): Promise<Replayed> {
  const replayed = await step(deps, page, "any").catch((error: unknown) => {
    if (isLocked(error)) return step(deps, page, "ungrouped");
    throw error;
  });
  const { tenant } = page;
  if (replayed.ids.length > 0) deps.observe({ event: "jobs_replayed", tenant, count: replayed.ids.length });
  return replayed;
}

async function step(deps: Deps, page: DeadPage, which: Which): Promise<Replayed> {
  type Job = ReadyJob & { status: "queued" | "blocked" };
  const [row] = await executeOn(deps.database)<{ found: number; reached: DeadPlace | null; jobs: Job[] | null }>({
    text: texts[page.kind][which],
    params: pageParams(page),
  });
  const jobs = row?.jobs ?? [];
  return {
    found: row?.found ?? 0,
    reached: row?.reached ?? null,
    ids: jobs.map(({ id }) => id),
    ready: jobs.filter(({ status }) => status === "queued"),
  };
}

type Which = "any" | "ungrouped";

/**
 * If adding to a group takes longer than this, it is an error (55P03), rather than a wait for everyone behind our rows.
 */
const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";

const textOf = (kind: DeadPage["kind"], which: Which) => `
  WITH ${takeDead(kind, rows_max, which === "any" ? impatient : "group_key IS NULL")},
       ${startAnew("taken", "jobs.id, jobs.tenant, jobs.queue, jobs.priority, jobs.status")}
  SELECT ${reachedFrom(kind, rows_max)}, (
    SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status)
                    ORDER BY id) FROM queued) AS jobs`;
const textsOf = (kind: DeadPage["kind"]) => {
  const name = `dead-letters/replay-${kind === "ids" ? "ids" : "page"}`;
  return {
    any: composed(name, pageParameters[kind], textOf(kind, "any")),
    ungrouped: composed(`${name}-ungrouped`, pageParameters[kind], textOf(kind, "ungrouped")),
  };
};
const texts = { ids: textsOf("ids"), walk: textsOf("walk") };
