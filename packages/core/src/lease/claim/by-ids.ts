import { composed } from "../../database/composed.ts";
import { isLocked } from "../../database/errors.ts";
import { hidden, isUuid, textArray, uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import { claimLimited, markedQueues } from "./limited.ts";
import { addTo, claimWith } from "./statement.ts";
import type { Claimer, Lease } from "../lease.ts";

/**
 * The leases are in the order of the ids. An id of a queue with limits or turns stands for all its jobs: those that come first
 * in it go, as many as there is room for, and are last in the answer.
 */
export async function claimByIds(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  const wanted = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
  if (wanted.length === 0) return [];
  const leases = await claimById(deps, claimer, wanted);
  if (leases.length < wanted.length) {
    const taken = new Set(leases.map(({ id }) => id));
    const left = wanted.filter((id) => !taken.has(id));
    await addTo(deps, claimer, leases, async () => {
      const queues = await markedQueues(deps, claimer, left);
      const more = queues.length > 0 ? (claimer.more_room?.() ?? 0) : 0;
      return claimLimited(deps, claimer, queues, left.length + more);
    });
  }
  const others = await ofOtherTypes(deps, claimer, wanted, leases);
  if (others.length > 0) claimer.put_back?.(others);
  const missed = ids.length - leases.length - others.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  return inOrder(leases, wanted);
}

function inOrder(leases: readonly Lease[], ids: readonly string[]): Lease[] {
  const leaseOf = new Map<string, Lease>();
  for (const lease of leases) leaseOf.set(lease.id, lease);
  const ordered: Lease[] = [];
  for (const id of ids) {
    const lease = leaseOf.get(id);
    if (lease) ordered.push(lease);
    leaseOf.delete(id);
  }
  return [...ordered, ...leaseOf.values()];
}

/**
 * All of them. If one stays locked for 200 ms, as many of the oldest jobs go instead, which passes over locked rows: to lock each
 * row first would cost every claim a seventh more. The sweep signals again those of the ids that did not go.
 */
async function claimById(deps: Deps, claimer: Claimer, ids: readonly string[]): Promise<Lease[]> {
  try {
    return await claimWith(deps, claimer, ids);
  } catch (error) {
    if (!isLocked(error)) throw error;
    return claimWith(deps, claimer, ids.length);
  }
}

/** Those of the ids that wait for a worker of their type. If they cannot be looked up, the sweep signals them. */
async function ofOtherTypes(
  deps: Deps,
  { tenant, types }: Claimer,
  ids: readonly string[],
  leases: readonly Lease[],
): Promise<readonly ReadyJob[]> {
  if (!types || leases.length >= ids.length) return [];
  const params = [tenant, uuidArray(ids), textArray(types)];
  return executeOn(deps.database)<ReadyJob>({ text: others, params }).catch((error: unknown) => {
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
    return [];
  });
}

const others = composed(
  "lease/other-types",
  ["tenant", "ids", "types"],
  `
  SELECT id, tenant, queue, priority FROM atlasqueue.jobs
  WHERE id = ANY(${hidden("$2::uuid[]")}) AND tenant = $1 AND status = 'queued' AND type <> ALL($3::text[])
  ORDER BY id`,
);
