import type { Deps, QueueRef } from "../deps.ts";
import { bottom, waitingQueuesOf, waitingTenants } from "../queues/due-queues.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { promoteDueOf } from "./promote-due.ts";

/** For one look: each costs a step in the index. */
const tenants_max = 200;
const queues_max = 1_000;
const jobs_max = 500;
const cursors_max = 10_000;

export type DueRound = () => Promise<ReadyJob[]>;

/**
 * Goes round the queues with due jobs: each look promotes some of each, and the next continues from there. Every tenant
 * that has any has an equal share of a look, and its queues of that; one whose million jobs are due at one moment holds
 * up no other. Signal what it returns.
 *
 * @example
 * const goRound = createDueRound(deps);
 * await announce(deps, await goRound());
 */
export function createDueRound(deps: Deps): DueRound {
  let tenant_after = bottom;
  const after = new Map<string, string>();

  const nextTenants = async (): Promise<string[]> => {
    let tenants = await waitingTenants(deps, tenant_after, tenants_max);
    if (tenants.length === 0 && tenant_after !== bottom) tenants = await waitingTenants(deps, bottom, tenants_max);
    tenant_after = tenants.length === tenants_max ? (tenants.at(-1) ?? bottom) : bottom;
    return tenants;
  };

  return async () => {
    const tenants = await nextTenants();
    if (after.size > cursors_max) after.clear();
    const steps_max = Math.ceil(queues_max / Math.max(1, tenants.length));
    const from = tenants.map((tenant) => ({ tenant, after: after.get(tenant) ?? bottom }));
    const pages = Map.groupBy(await waitingQueuesOf(deps, from, steps_max), ({ tenant }) => tenant);
    for (const tenant of tenants) {
      const page = pages.get(tenant) ?? [];
      const last = page.at(-1);
      // Those that reached their end start over.
      if (last && page.length === steps_max) after.set(tenant, last.queue);
      else after.delete(tenant);
    }
    return promoteDueOf(deps, sharesOf([...pages.values()].map((page) => page.filter(({ due }) => due))));
  };
}

/** At least one job of each queue. */
function sharesOf(pages: readonly (readonly QueueRef[])[]) {
  const due = pages.filter((page) => page.length > 0);
  return due.flatMap((page) => {
    const share = Math.ceil(jobs_max / due.length / page.length);
    return page.map(({ tenant, queue }) => ({ tenant, queue, jobs_max: share }));
  });
}
