import type { Deps, QueueRef } from "../deps.ts";
import type { Stepping } from "../queues/stepping.ts";

/** For one look: each tenant and queue costs a step in the index. */
const tenants_max = 200;
const queues_max = 1_000;
const cursors_max = 10_000;

export type TenantRound<Said> = {
  /** The next queues of the next tenants, by tenant. Every tenant has an equal share of a look. */
  next(): Promise<ReadonlyMap<string, readonly (QueueRef & Said)[]>>;
  /** The next look at its tenant goes on behind this queue. */
  cameTo(queue: QueueRef): void;
};

/**
 * Goes round the queues that have jobs of a kind. Each look goes on where the one before ended, for each tenant by itself: one
 * with ten thousand queues holds up no other. Tenants and queues start over behind the last.
 *
 * @example
 * const round = createTenantRound(deps, dueQueues);
 * for (const [tenant, queues] of await round.next()) …
 */
export function createTenantRound<Said>(
  deps: Pick<Deps, "database">,
  { start, tenantsFrom, queuesFrom }: Stepping<Said>,
): TenantRound<Said> {
  let tenant_from = start;
  const from = new Map<string, string>();
  const nextTenants = async (): Promise<string[]> => {
    let tenants = await tenantsFrom(deps, tenant_from, tenants_max);
    if (tenants.length === 0 && tenant_from !== start) tenants = await tenantsFrom(deps, start, tenants_max);
    tenant_from = tenants.length === tenants_max ? (tenants.at(-1) ?? start) : start;
    return tenants;
  };
  return {
    async next() {
      const tenants = await nextTenants();
      if (from.size > cursors_max) from.clear();
      const share = Math.ceil(queues_max / Math.max(1, tenants.length));
      const places = tenants.map((tenant) => ({ tenant, from: from.get(tenant) ?? start }));
      const pages = Map.groupBy(await queuesFrom(deps, places, share), ({ tenant }) => tenant);
      for (const tenant of tenants) {
        const page = pages.get(tenant) ?? [];
        if (page.length < share) from.delete(tenant);
        else from.set(tenant, page.at(-1)?.queue ?? start);
      }
      return pages;
    },
    cameTo: ({ tenant, queue }) => void from.set(tenant, queue),
  };
}
