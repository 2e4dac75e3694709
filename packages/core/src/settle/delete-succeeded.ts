import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import type { Statement } from "../database/statement.ts";
import { removeOf } from "../jobs/remove.ts";
import { holdsLease, leaseInput, leaseParameters, leaseParams } from "../lease/fence.ts";
import type { Settling } from "./statement.ts";

/** Whether a settlement may delete its job: it succeeded, and its queue keeps none of those. */
export const mayDelete = (one: Settling): boolean =>
  one.lease.keep_succeeded === false && !one.lease.flow_id && !("verdict" in one);

/**
 * running → gone, for jobs that succeeded under their leases, with their attempts: as `settlementOf`, it returns one row
 * with those refused, which are to be settled by that. A job stays that others may still ask for: of a flow, with
 * children, with a unique key, or with steps and signals. Its claim names it until a minute after the last of the claim's
 * jobs has ended, by which a repeated settlement is known.
 */
export const deletionOf = (settlings: readonly Settling[]): Statement => ({
  text,
  params: leaseParams(settlings.map(({ lease }) => lease)),
});

// A text of its own: as a part of the settlement's it would be planned and begun for every batch.
const text = composed(
  "settle/delete-succeeded",
  leaseParameters,
  `
  WITH deleted AS (
    DELETE FROM atlasqueue.jobs
    WHERE ${lockTimeout} AND ${holdsLease} AND NOT keep_succeeded
      AND flow_id IS NULL AND has_children IS NOT TRUE AND has_steps IS NOT TRUE AND unique_key IS NULL
    RETURNING jobs.id, tenant, queue
  ), ${removeOf("job_attempts", "job_id", "deleted")}, ${countChanges("deleted", { running: "-count(*)" })}
  SELECT json_agg(input.id) AS refused FROM ${leaseInput}
  WHERE (SELECT count(*) FROM deleted) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM deleted)`,
);
