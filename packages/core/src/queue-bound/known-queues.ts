export type KnownQueues = {
  has(tenant: string, queue: string): boolean;
  add(tenant: string, queue: string): void;
};

/**
 * Names of queues that were there when somebody looked, so that nobody looks again. The oldest name of a tenant with
 * too many makes room, and all names of the tenant that was met first: one that is forgotten costs a look. That a tenant
 * has no more known names than it may have queues also bounds what it gets by emptying queues and coming back to them.
 *
 * @example
 * const known = createKnownQueues({ of_tenant_max: 10_000, all_max: 100_000 });
 */
export function createKnownQueues({ of_tenant_max, all_max }: { of_tenant_max: number; all_max: number }): KnownQueues {
  const tenants = new Map<string, Set<string>>();
  let all = 0;
  return {
    has: (tenant, queue) => tenants.get(tenant)?.has(queue) ?? false,
    add(tenant, queue) {
      const names = tenants.get(tenant) ?? new Set<string>();
      tenants.set(tenant, names);
      if (names.has(queue)) return;
      names.add(queue);
      all += 1;
      const [oldest] = names;
      if (names.size > of_tenant_max && oldest !== undefined) {
        names.delete(oldest);
        all -= 1;
      }
      const [first] = tenants;
      if (all > all_max && first) {
        tenants.delete(first[0]);
        all -= first[1].size;
      }
    },
  };
}
