import { limits, type ParentSource } from "@atlasqueue/contract";
import { parentsOf, parentsPage, type Lease } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import type { LazyAbort } from "./lazy-abort.ts";
import { patiently } from "./patiently.ts";

/**
 * Where handlers ask for the parents of their jobs: the database. While that is away they wait for it, for as long as
 * their attempt goes on.
 */
export function createParentSources(deps: WorkerDeps) {
  return ({ id, tenant, flow_id = null }: Lease, lazy: LazyAbort): ParentSource => {
    const ask = <T>(question: () => Promise<T>): Promise<T> => patiently(deps, "parents", lazy, question);
    return {
      first: () => ask(async () => (await parentsOf(deps, tenant, [{ id, flow_id }])).get(id)),
      async page(cursor) {
        const after = Number(cursor ?? 0);
        const { items, next } = await ask(() => parentsPage(deps, tenant, id, after, limits.parents_listed_max));
        return { items, next_cursor: next === undefined ? null : String(next) };
      },
    };
  };
}
