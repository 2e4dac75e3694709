import { randomUUID } from "node:crypto";
import { outcomeUnknown } from "../../database/errors.ts";
import { type Claimer, leaseEvent, type Lease } from "../lease.ts";
import { composed } from "../../database/composed.ts";
import { hidden, textArray, uuidArray } from "../../database/literals.ts";
import { lockTimeout } from "../../database/clauses.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { hasMark } from "../../limits/capacity.ts";
import {
  isNotExpired,
  leaseTerms,
  ofTypes,
  readTrace,
  syncedForGroups,
  takeLeases,
  typesIn,
  type LeaseRow,
} from "../take-leases.ts";

/**
 * Send a claim, as `underToken` does: of these ids, or of the oldest jobs in queues without limits and turns, passing over
 * those that are locked.
 */
export async function claimWith(deps: Deps, claimer: Claimer, which: readonly string[] | number): Promise<Lease[]> {
  const { tenant, worker_id, lease_seconds, whole = false, types } = claimer;
  return underToken(claimer, async (lease_token) => {
    const queues = textArray(claimer.queues);
    const terms = [lease_token, worker_id, lease_seconds, tenant, String(whole), typesIn(types)];
    const [text, last] = typeof which === "number" ? [oldest, which] : [byIds, uuidArray(which)];
    const params = [...terms, queues, last];
    const leases = [...(await executeOn(deps.database)<LeaseRow>({ text, params }))];
    for (const lease of leases) {
      readTrace(lease);
      lease.tenant = tenant;
      lease.lease_token = lease_token;
      lease.worker_id = worker_id;
    }
    return reportTaken(deps, claimer, leases);
  });
}

/** What a further claim has taken, beside what there is already. */
export async function addTo(
  deps: Deps,
  claimer: Claimer,
  leases: Lease[],
  claiming: () => Promise<Lease[]>,
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

/** Tell of leases, and return them. */
export function reportTaken(deps: Deps, claimer: Claimer, leases: Lease[]): Lease[] {
  claimer.size?.note(leases);
  for (const one of leases) deps.observe(leaseEvent("lease_acquired", one));
  return leases;
}

/** The queues of $7 that are not paused, and whose jobs are claimed one by one: looked up once per statement. */
const served = `ARRAY(
  SELECT queue FROM unnest($7::text[]) AS wanted(queue)
  WHERE NOT EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $4 AND queues.queue = wanted.queue AND (paused_at IS NOT NULL OR ${hasMark})))`;

const claiming = (name: string, which: string, chosen: string) =>
  composed(
    name,
    [...leaseTerms, "queues", which],
    `WITH ${takeLeases(chosen)} SELECT * FROM leased WHERE ${syncedForGroups}`,
  );

// Two texts: a claim of ids through that of the oldest took 830 µs instead of 360, and of fifty ids 30 µs each instead of 20. When a
// statement of the same transaction chose the oldest first, for the claim of ids to take, one took about as long, and fifty took a fifth to
// three fifths longer on a busy machine.
const byIds = claiming(
  "lease/claim",
  "ids",
  `id = ANY(${hidden("$8::uuid[]")}) AND tenant = $4 AND queue = ANY(${served}) AND ${lockTimeout}`,
);

// Each queue's own order, then the best of those: one index scan per queue, none longer than the answer. Passes over locked jobs.
const oldest = claiming(
  "lease/claim-oldest",
  "jobs_max",
  `id = ANY(ARRAY(
      SELECT ready.id
      FROM unnest(${served}) AS served(queue),
           LATERAL (SELECT id, priority, ready_at FROM atlasqueue.jobs
                    WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL AND ${isNotExpired} AND ${ofTypes("$6")}
                    ORDER BY priority DESC, ready_at, id LIMIT $8::int
                    FOR UPDATE SKIP LOCKED) AS ready
      ORDER BY ready.priority DESC, ready.ready_at, ready.id LIMIT $8::int))`,
);

/**
 * Send a claim under the claimer's own token, or a fresh one: where its outcome is unknown, the claimer takes back by
 * that token what it may have leased. Rejects with `LeaseTokenTakenError` when the claimer's own was used before: `findLeasedBefore` says for which jobs.
 *
 * @example
 * const leases = await underToken(claimer, (lease_token) => send(text, [lease_token, worker_id]));
 */
export async function underToken<T>(claimer: Claimer, send: (lease_token: string) => Promise<T>): Promise<T> {
  const lease_token = claimer.lease_token ?? randomUUID();
  try {
    return await send(lease_token);
  } catch (error) {
    if (outcomeUnknown(error)) claimer.unanswered?.(lease_token, claimer.tenant);
    throw isTokenTaken(error) && claimer.lease_token !== undefined ? new LeaseTokenTakenError() : error;
  }
}

/** Under this token of the caller's own jobs were leased before, or it was taken back: nothing was leased now. */
export class LeaseTokenTakenError extends Error {
  override readonly name = "LeaseTokenTakenError";
}

/** True when PostgreSQL refused a claim as a whole, as its token has a row already. */
export function isTokenTaken(error: unknown): boolean {
  const { code, constraint_name } = (error ?? {}) as { code?: unknown; constraint_name?: unknown };
  return code === "23505" && constraint_name === "claims_pkey";
}
