import { readyQueues, readyTenantsAmong } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";

/** Tenants looked for in one statement. */
const tenants_max = 500;

/** Tenants with ready jobs; with `more` there may be others, which the next page has. */
export type ReadyTenants = { tenants: readonly string[]; more: boolean };

/** The tenants that have ready jobs in any queue, page by page and round after round, for as long as it is asked. */
export function readyTenantsInTurn(deps: WorkerDeps, wanted: readonly string[] | "*"): () => Promise<ReadyTenants> {
  const { start, tenantsFrom } = readyQueues;
  let below = start;
  let at = 0;
  return async () => {
    if (wanted === "*") {
      const tenants = await tenantsFrom(deps, below, tenants_max);
      below = tenants.length === tenants_max ? (tenants.at(-1) ?? start) : start;
      return { tenants, more: below !== start };
    }
    const page = wanted.slice(at, at + tenants_max);
    at = at + tenants_max < wanted.length ? at + tenants_max : 0;
    return { tenants: await readyTenantsAmong(deps, page), more: at > 0 };
  };
}
