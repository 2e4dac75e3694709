import { composed } from "../../database/composed.ts";
import { textArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { isLimited } from "../../limits/room.ts";
import { readyBehind } from "../../limits/within-rates.ts";
import { claimLimited } from "./limited.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease.ts";
import { underToken } from "./under-token.ts";
import { leaseTerms, syncedForGroups, takeLeases, type Width } from "../take-leases.ts";

/** Send a claim, as `underToken` does. */
export async function claimWith<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  text: string,
  which: string | number,
): Promise<L[]> {
  const { tenant, worker_id, lease_seconds } = claimer;
  return underToken(claimer, async (lease_token) => {
    const params = [lease_token, worker_id, lease_seconds, tenant, textArray(claimer.queues), which];
    const leases = [...(await executeOn(deps.database)<L>({ text, params }))];
    for (const lease of leases as Lease[]) {
      lease.tenant = tenant;
      lease.lease_token = lease_token;
      lease.worker_id = worker_id;
    }
    return reportTaken(deps, leases);
  });
}

/**
 * What queues with limits have room for. In place of ids that others hold locked, the oldest jobs of their queues go. Where
 * the front of a queue has too few whose groups may start, those behind it go.
 */
export async function claimWithinLimits<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  width: Width,
): Promise<L[]> {
  const { leases, passed_over, by_group } = await claimLimited<L>(deps, claimer, which, width);
  reportTaken(deps, leases);
  if (passed_over.length > 0) {
    const ofThose = { ...claimer, queues: [...new Set(passed_over)] };
    await addTo(deps, claimer, leases, () => claimWithinLimits<L>(deps, ofThose, passed_over.length, width));
  }
  if (typeof which === "number" && leases.length < which && by_group.length > 0) {
    const ofThose = { ...claimer, queues: by_group };
    // Once, and in place of those that others hold locked none: the next claim's look goes on behind them.
    await addTo(deps, claimer, leases, async () => {
      const jobs = await readyBehind(deps, ofThose, which - leases.length, claimer.behind);
      const ids = jobs.map(({ id }) => id);
      return reportTaken(deps, ids.length > 0 ? (await claimLimited<L>(deps, ofThose, ids, width)).leases : []);
    });
  }
  return leases;
}

/** What a further claim has taken, beside what there is already. */
export async function addTo<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  leases: L[],
  claiming: () => Promise<L[]>,
): Promise<void> {
  // A token leases once, and if a further claim's answer were lost, all would go back by it.
  if (leases.length > 0 && claimer.lease_token !== undefined) return;
  try {
    leases.push(...(await claiming()));
  } catch (error) {
    // Those already leased must not be lost with it.
    if (leases.length === 0) throw error;
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  }
}

function reportTaken<L extends Lease>(deps: Deps, leases: L[]): L[] {
  for (const one of leases) deps.observe(leaseEvent("lease_acquired", one));
  return leases;
}

/**
 * The queues of $5 that are neither paused nor limited. Depends on no row, so PostgreSQL evaluates it once per
 * statement.
 */
export const servedBut = (others: string) => `ARRAY(
  SELECT queue FROM unnest($5::text[]) AS wanted(queue)
  WHERE NOT EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $4 AND queues.queue = wanted.queue AND (paused_at IS NOT NULL OR ${others})))`;
export const served = servedBut(isLimited);

/** A claim by width: what it leases is chosen by `which`, and `last` says what $6 is. */
export const claimTexts = (name: string, last: "ids" | "jobs_max", which: string, before = "", columns = "*") => {
  const text = (width: Width) =>
    composed(
      `lease/${name}-${width}`,
      [...leaseTerms, "queues", last],
      `WITH ${before} ${takeLeases(which, width)} SELECT ${columns} FROM leased WHERE ${syncedForGroups}`,
    );
  return { lease: text("lease"), traced: text("traced"), whole: text("whole") };
};
