export type KnownQueues = {
  has(tenant: string, queue: string): boolean;
  add(tenant: string, queue: string): void;
};

/**
 * Names of queues that existed at the last look, so that there is no need to look again. The oldest name of a tenant
 * with too many makes room, as do all names of the tenant met first: a forgotten one costs a look. As a tenant has no
 * more known names than it may have queues, it also gains little by emptying queues and coming back to them.
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
