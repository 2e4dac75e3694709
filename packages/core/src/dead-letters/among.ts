import { composed } from "../database/composed.ts";
import { isUuid, unindexed, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Those of the ids that belong to dead jobs now, of any tenant: for the list in Redis, which has all. */
export async function deadAmong(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<Set<string>> {
  const params = [uuidArray(ids.filter(isUuid))];
  const rows = await executeOn(deps.database)<{ id: string }>({ text, params });
  return new Set(rows.map(({ id }) => id));
}

const text = composed(
  "dead-letters/among",
  ["ids"],
  `SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND ${unindexed("dead_at")} IS NOT NULL`,
);
