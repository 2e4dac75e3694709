import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** How long an operation that is over can be looked up. */
const kept_days = 30;

/** Forget a bounded number of operations that were over long ago. Returns how many. */
export async function forgetOperations(deps: Pick<Deps, "database">, operations_max: number): Promise<number> {
  return (await executeOn(deps.database)({ text, params: [operations_max] })).length;
}

const text = composed(
  "operations/forget",
  ["operations_max"],
  `
  DELETE FROM atlasqueue.operations WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM atlasqueue.operations WHERE finished_at < now() - interval '${kept_days} days' LIMIT $1::int
    FOR UPDATE SKIP LOCKED))
  RETURNING 1`,
);
