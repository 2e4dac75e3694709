import { isUuid, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Those of the ids that belong to dead jobs now, of any tenant: for the list in Redis, which has all. */
export async function deadAmong(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<Set<string>> {
  const rows = await executeOn(deps.database)<{ id: string }>({
    text: "SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND dead_at IS NOT NULL",
    params: [uuidArray(ids.filter(isUuid))],
  });
  return new Set(rows.map(({ id }) => id));
}
