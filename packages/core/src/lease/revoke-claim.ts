import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { asyncCommit, lockTimeout } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import type { Returnable } from "./lease.ts";
import { release, type Released } from "./release.ts";

/** No claim under the token is taken for this long: longer than one can be on its way. */
const refused_seconds = 300;

/**
 * `release` for all jobs of a claim whose answer was lost. The claim may not even have arrived yet: its token is taken
 * first, and a claim under a taken token is refused as a whole. The next statement sees a claim that was committed while
 * the first waited for it.
 *
 * @example
 * const { given, locked } = await revokeClaim(deps, "default", lease_token);
 */
export async function revokeClaim(deps: Deps, tenant: string, lease_token: string): Promise<Released<Returnable>> {
  const execute = executeOn(deps.database);
  await execute({ text: takeToken, params: [lease_token, refused_seconds, tenant] });
  return release(deps, await execute<Returnable>({ text: held, params: [lease_token, tenant] }));
}

// The sweep forgets it with the other claims that have no jobs left.
const takeToken = composed(
  "lease/revoke-claim",
  ["lease_token", "refused_seconds", "tenant"],
  `
  INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT $3, $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE ${asyncCommit} AND ${lockTimeout}
  ON CONFLICT (token, tenant) DO NOTHING`,
);

const held = `
  SELECT id, tenant, queue, type, priority, attempts, lease_token, worker_id FROM atlasqueue.jobs
  WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2)) AND tenant = $2
    AND lease_token = $1::uuid AND status = 'running'`;
