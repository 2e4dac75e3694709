import { limits, type ParentSource } from "@atlasqueue/contract";
import { isUnavailable } from "@atlasqueue/core";
import { parentsOf, parentsPage, pause, type Lease } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import type { LazyAbort } from "./lazy-abort.ts";

const retry_ms = 250;

/**
 * Where handlers ask for the parents of their jobs: the database. While that is away they wait for it, for as long as
 * their attempt goes on.
 */
export function createParentSources(deps: WorkerDeps) {
  return ({ id, tenant, flow_id = null }: Lease, lazy: LazyAbort): ParentSource => {
    const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
      for (;;) {
        if (lazy.reason) throw lazy.reason;
        try {
          return await ask();
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          deps.observe({ event: "database_unavailable", during: "parents", error: String(error) });
          await pause(retry_ms);
        }
      }
    };
    return {
      first: () => patiently(async () => (await parentsOf(deps, tenant, [{ id, flow_id }])).get(id)),
      async page(cursor) {
        const after = Number(cursor ?? 0);
        const { items, next } = await patiently(() => parentsPage(deps, tenant, id, after, limits.parents_listed_max));
        return { items, next_cursor: next === undefined ? null : String(next) };
      },
    };
  };
}
