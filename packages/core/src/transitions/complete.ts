import type { Json } from "@atlasqueue/contract";
import { bounded } from "../database/bounded.ts";
import { jsonArray } from "../database/literals.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, type Lease } from "./claim.ts";
import { holdsLease, idsOf, tokensOf } from "./lease-rows.ts";

export type Completion = { lease: Lease; result: Json };
/** What happened to a settlement, in the order they were given. */
export type SettleOutcome = { kind: "applied" } | { kind: "lease_lost" };

/**
 * running → succeeded. Only the holder of the current lease may do this; another is told `lease_lost` and its result
 * is not stored. Results must be storable (see `findFaults`).
 *
 * @example
 * const [outcome] = await complete(deps, [{ lease, result: { sent: true } }]);
 */
export async function complete(deps: Deps, completions: readonly Completion[]): Promise<SettleOutcome[]> {
  const { sql } = deps.database;
  const leases = completions.map(({ lease }) => lease);
  const applied = await bounded(
    deps.database,
    sql<{ id: string }[]>`
    UPDATE jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    result = CASE WHEN json_typeof(input.result) = 'null' THEN NULL ELSE input.result END
    FROM ROWS FROM (
      unnest(${idsOf(leases)}::uuid[], ${tokensOf(leases)}::uuid[]),
      json_array_elements(${jsonArray(completions.map(({ result }) => JSON.stringify(result)))}::text::json)
    ) AS input(id, token, result)
    WHERE ${holdsLease(deps.database, leases)}
    RETURNING jobs.id`,
  );
  const done = new Set(applied.map((row) => row.id));
  return completions.map(({ lease }) => {
    if (!done.has(lease.id)) {
      deps.observe({ event: "lease_lost", during: "settling", ...aboutLease(lease) });
      return { kind: "lease_lost" };
    }
    deps.observe({ event: "job_succeeded", ...aboutLease(lease) });
    return { kind: "applied" };
  });
}
