import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { endedFlows } from "../flows/keeping/ended-flows.ts";
import { pageParameters, pageParams, type DeadPage, type DeadPlace } from "./pages.ts";
import { removeJobs } from "../jobs/remove.ts";
import { reachedFrom, takeDead } from "./take.ts";

/** `found` is how many matched, `ids` those removed. */
export type Purged = { found: number; reached: DeadPlace | null; ids: string[] };

const rows_max = 500;

/**
 * dead → gone, with their attempts: one step over dead letters, longest dead first. Locked ones, and those of a flow that is not over, are found and skipped.
 * An idempotency key whose job is gone is free again, and is pruned in due course.
 *
 * @example
 * const { ids } = await purge(deps, page);
 */
export async function purge(deps: Deps, page: DeadPage): Promise<Purged> {
  const [row] = await executeOn(deps.database)<Omit<Purged, "ids"> & { ids: string[] | null }>({
    text,
    params: pageParams(page),
  });
  const ids = row?.ids ?? [];
  if (ids.length > 0) deps.observe({ event: "jobs_purged", tenant: page.tenant, count: ids.length });
  return { found: row?.found ?? 0, reached: row?.reached ?? null, ids };
}

const text = composed(
  "dead-letters/purge",
  pageParameters,
  `
  WITH ${takeDead(rows_max)}, ${endedFlows("taken")}, ${removeJobs("ended")}
  SELECT ${reachedFrom(rows_max)}, (SELECT json_agg(id) FROM gone) AS ids`,
);
