import { summaryOf, type Looked, type Summary } from "./summary.ts";

/** Those who are looked at by nobody begin anew: a page that shows a tenant asks every few seconds. */
const tenants_max = 1_000;

/**
 * Summaries of tenants, each going on where the tenant's last one ended, so that in time all its queues are looked into.
 *
 * @example
 * const summarize = createSummaries();
 * const { waiting } = await summarize(deps, "default");
 */
export function createSummaries(): (...of: [Parameters<typeof summaryOf>[0], string]) => Promise<Summary> {
  const looked = new Map<string, Looked>();
  return async (deps, tenant) => {
    const summary = await summaryOf(deps, tenant, looked.get(tenant));
    looked.delete(tenant);
    looked.set(tenant, summary.looked);
    for (const name of looked.keys()) {
      if (looked.size <= tenants_max) break;
      looked.delete(name);
    }
    return summary;
  };
}
