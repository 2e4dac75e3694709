import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import { uuidArray } from "../database/literals.ts";
import type { Deps } from "../deps.ts";

/**
 * Delete claims none of whose jobs run any more, as their holder knows. Spares the sweep a look; a crash before this
 * costs that look and nothing else, so it is not synced to disk.
 */
export async function forgetClaims(deps: Deps, tokens: readonly string[]): Promise<void> {
  if (tokens.length === 0) return;
  await executeOn(deps.database)({ text: forget, params: [uuidArray(tokens)] });
}

const forget = composed(
  "lease/forget-claims",
  ["tokens"],
  `DELETE FROM lease_batches WHERE token = ANY($1::uuid[]) AND ${unsynced}`,
);

/**
 * Delete those of the claims none of whose jobs run any more, for whoever settled some of their jobs and does not know
 * of the others. A crash before this costs the sweep a look and nothing else, so it is not synced to disk.
 */
export async function forgetEndedClaims(deps: Pick<Deps, "database">, tokens: readonly string[]): Promise<void> {
  if (tokens.length > 0) await executeOn(deps.database)({ text: forgetEnded, params: [uuidArray(tokens)] });
}

// By primary key of the jobs, claim by claim: as a join it would be planned for the average claim, whatever that is.
const forgetEnded = composed(
  "lease/forget-ended-claims",
  ["tokens"],
  `
  DELETE FROM lease_batches WHERE token = ANY($1::uuid[]) AND ${unsynced}
    AND (SELECT count(*) FROM jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = lease_batches.token) = 0`,
);
