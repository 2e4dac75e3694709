import { isUuid, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Those of the jobs that have finished, or no longer exist. The caller checks whose they are. */
export async function finishedAmong(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<string[]> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return [];
  const text = `
    SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND status NOT IN ('succeeded', 'dead', 'cancelled')`;
  const open = await executeOn(deps.database)<{ id: string }>({ text, params: [uuidArray(wanted)] });
  const waiting = new Set(open.map(({ id }) => id));
  return wanted.filter((id) => !waiting.has(id));
}
