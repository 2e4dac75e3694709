/** Which of a tenant's queues with these names exist. */
type Find = (tenant: string, queues: readonly string[]) => Promise<readonly string[]>;

/** The most names in one statement. */
const names_max = 1_000;

/**
 * Whether queues exist, by one statement at a time for each tenant: names asked for meanwhile share the next one, and a
 * name already asked for is not asked for again. So a starting process, or a tenant that makes up names, costs the
 * database little. When a statement fails, all waiting calls reject.
 *
 * @example
 * const exists = createQueueLookUp((tenant, queues) => existingQueues(deps, tenant, queues));
 * await exists("default", "mail");
 */
export function createQueueLookUp(find: Find): (tenant: string, queue: string) => Promise<boolean> {
  /** For each tenant with a look under way. */
  const lines = new Map<string, Map<string, PromiseWithResolvers<boolean>>>();

  const serve = async (tenant: string, line: Map<string, PromiseWithResolvers<boolean>>): Promise<void> => {
    // So that all names of a batch go into the first statement.
    await Promise.resolve();
    while (line.size > 0) {
      const page = [...line].slice(0, names_max);
      try {
        const names = page.map(([queue]) => queue);
        const found = new Set(await find(tenant, names));
        for (const [queue, asked] of page) {
          line.delete(queue);
          asked.resolve(found.has(queue));
        }
      } catch (error) {
        for (const asked of line.values()) asked.reject(error);
        line.clear();
      }
    }
    lines.delete(tenant);
  };

  return (tenant, queue) => {
    let line = lines.get(tenant);
    if (!line) {
      line = new Map();
      lines.set(tenant, line);
      void serve(tenant, line);
    }
    const asked = line.get(queue) ?? Promise.withResolvers<boolean>();
    line.set(queue, asked);
    return asked.promise;
  };
}
