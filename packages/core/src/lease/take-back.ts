import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced, impatient } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import type { Returnable } from "./lease.ts";
import { release, type Released } from "./release.ts";

/** No claim under the token is taken for this long: longer than one can be on its way. */
const refused_seconds = 300;

/**
 * The leases of a claim whose answer was lost. The claim may not even have arrived yet: its token is taken first, and a claim
 * under a taken token is refused as a whole. Two statements, as the second must see a claim committed while the first waited
 * for it.
 *
 * @example
 * const { given, locked } = await release(deps, await takeToken(deps, "default", lease_token));
 */
export async function takeToken(
  deps: Pick<Deps, "database">,
  tenant: string,
  lease_token: string,
): Promise<readonly Returnable[]> {
  const execute = executeOn(deps.database);
  await execute({ text: take, params: [lease_token, refused_seconds, tenant] });
  return execute<Returnable>({ text: find, params: [lease_token, tenant] });
}

/** running → queued, with the attempt given back, for all jobs of such a claim. */
export const takeBack = async (deps: Deps, tenant: string, lease_token: string): Promise<Released<Returnable>> =>
  release(deps, await takeToken(deps, tenant, lease_token));

// The sweep forgets it with the other claims that have no jobs left.
const take = composed(
  "lease/take-back",
  ["lease_token", "refused_seconds", "tenant"],
  `
  INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT $3, $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE ${unsynced} AND ${impatient}
  ON CONFLICT (token, tenant) DO NOTHING`,
);

const find = `
  SELECT id, tenant, queue, type, priority, attempts, worker_id, lease_token FROM atlasqueue.jobs
  WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2))
    AND tenant = $2 AND lease_token = $1::uuid AND status = 'running'`;
