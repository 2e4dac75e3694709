import { readyQueuesOf, readyTenants, top, type ReadyQueue } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { offerMark } from "../../limits/marks.ts";
import { SignalUnavailableError } from "../../signal/signal.ts";
import { resignalOrphans } from "../resignal.ts";
import { createReaches } from "./reaches.ts";

/** For all tenants in one sweep. */
const queues_max = 1_000;
const tenants_max = 200;
/** How long one sweep may go on signalling, beyond one queue per tenant. */
const round_ms_max = 1_000;
const cursors_max = 10_000;

/**
 * Goes round all queues with ready jobs. Each sweep looks at some, and the next sweep goes on from there.
 * Every tenant has an equal share of a sweep and its own cursor, so one with ten thousand queues holds up no other.
 * Returns how many jobs were signalled again.
 */
export function createReadyRound(deps: LoopDeps): () => Promise<number> {
  const reaches = createReaches();
  let tenant_below = top;
  const below = new Map<string, string>();

  /** Signals what is missing from a queue with ready jobs. Resolves with how many jobs were missing. */
  const offer = async (queue: ReadyQueue): Promise<number> => {
    if (!queue.marked && !deps.signal.marks_only)
      return reaches.look(queue, (reach_ms) => resignalOrphans(deps, queue, reach_ms));
    await offerMark(deps, queue);
    return 0;
  };

  const nextTenants = async (): Promise<string[]> => {
    let tenants = await readyTenants(deps, tenant_below, tenants_max);
    if (tenants.length === 0 && tenant_below !== top) tenants = await readyTenants(deps, top, tenants_max);
    tenant_below = tenants.length === tenants_max ? (tenants.at(-1) ?? top) : top;
    return tenants;
  };

  return async () => {
    const end = performance.now() + round_ms_max;
    const tenants = await nextTenants();
    if (below.size > cursors_max) below.clear();
    const share = Math.ceil(queues_max / Math.max(1, tenants.length));
    const from = tenants.map((tenant) => ({ tenant, below: below.get(tenant) ?? top }));
    const pages = Map.groupBy(await readyQueuesOf(deps, from, share), ({ tenant }) => tenant);
    // Those that reached their end start over.
    for (const tenant of tenants) if ((pages.get(tenant)?.length ?? 0) < share) below.delete(tenant);
    let resignalled = 0;
    let failed: SignalUnavailableError | undefined;
    for (let place = 0; place < share && (place === 0 || performance.now() < end); place += 1)
      for (const [tenant, page] of pages) {
        const queue: ReadyQueue | undefined = page[place];
        if (!queue) continue;
        if (place + 1 < page.length || page.length === share) below.set(tenant, queue.queue);
        else below.delete(tenant);
        if (!queue.paused)
          resignalled += await offer(queue).catch((error: unknown) => {
            // Of this queue's list, perhaps: the others must not wait behind it, at every round anew.
            if (!(error instanceof SignalUnavailableError)) throw error;
            failed = error;
            return 0;
          });
      }
    if (failed) throw failed;
    return resignalled;
  };
}
