import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import { uuidArray } from "../database/literals.ts";
import type { Deps } from "../deps.ts";

/**
 * Delete claims none of whose jobs run any more, as their holder knows. Spares the sweep a look; a crash before this
 * costs that look and nothing else, so it is not synced to disk.
 */
export async function forgetLeaseBatches(deps: Deps, tokens: readonly string[]): Promise<void> {
  if (tokens.length === 0) return;
  await executeOn(deps.database)({ text, params: [uuidArray(tokens)] });
}

const text = composed(
  "lease/forget-claims",
  ["tokens"],
  `DELETE FROM lease_batches WHERE token = ANY($1::uuid[]) AND ${unsynced}`,
);
