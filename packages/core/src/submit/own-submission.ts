import { idempotencyKeyAccepts, isIdempotencyKey, submitJob, validate, type JobSubmission } from "@atlasqueue/contract";
import type { Submission } from "./outcome.ts";
import { InvalidJobError } from "./refused.ts";

/** A job from the caller's own code. Throws `InvalidJobError`. */
export function ownSubmission(tenant: string, { idempotency_key, ...job }: JobSubmission): Submission {
  const checked = validate(submitJob, job);
  if (checked.kind === "invalid") throw new InvalidJobError(checked.faults);
  if (idempotency_key !== undefined && !isIdempotencyKey(idempotency_key))
    throw new InvalidJobError([{ pointer: "/idempotency_key", message: `must be ${idempotencyKeyAccepts}` }]);
  return { tenant, request: checked.value, idempotency_key };
}
