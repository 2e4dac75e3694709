import { readyTenants, readyTenantsAmong, top } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

/** Tenants looked for in one statement. */
const tenants_max = 500;

/**
 * The tenants that have ready jobs in any queue, page by page and round after round, for as long as it is asked.
 *
 * @example
 * const nextPage = readyTenantsInTurn(deps, "*");
 * for (const tenant of await nextPage()) visit(tenant);
 */
export function readyTenantsInTurn(deps: WorkerDeps, wanted: readonly string[] | "*"): () => Promise<string[]> {
  let below = top;
  let at = 0;
  return async () => {
    if (wanted === "*") {
      const page = await readyTenants(deps, below, tenants_max);
      below = page.length === tenants_max ? (page.at(-1) ?? top) : top;
      return page;
    }
    const page = wanted.slice(at, at + tenants_max);
    at = at + tenants_max < wanted.length ? at + tenants_max : 0;
    return readyTenantsAmong(deps, page);
  };
}
