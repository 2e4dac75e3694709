import { idempotencyKeyAccepts, isIdempotencyKey, submitBatch, validate } from "@atlasqueue/contract";
import { IdempotencyMismatchError, InvalidJobError, UniqueConflictError } from "../submit/refused.ts";
import { flowFaults, unknownParent } from "./flow-faults.ts";
import { answerOf, flowOf, type Flow, underOneKey } from "./flow.ts";
import type { QueueFlow, SubmittedFlow } from "./queue-flow.ts";
import type { FlowOutcome } from "./submit-flow.ts";

/** A flow from the caller's own code. Throws `InvalidJobError`. */
export function ownFlow(tenant: string, { idempotency_key, ...batch }: QueueFlow): Flow {
  const checked = validate(submitBatch, batch);
  if (checked.kind === "invalid") throw new InvalidJobError(checked.faults);
  if (idempotency_key !== undefined && !isIdempotencyKey(idempotency_key))
    throw new InvalidJobError([{ pointer: "/idempotency_key", message: `must be ${idempotencyKeyAccepts}` }]);
  const flow = flowOf(checked.value, { tenant });
  const faults = flowFaults(flow);
  if (faults.length > 0) throw new InvalidJobError(faults);
  return idempotency_key === undefined ? flow : underOneKey(flow, idempotency_key);
}

/** What the caller learns. Throws when nothing was stored. */
export function answerOwn(flow: Flow, outcome: FlowOutcome, key: string | undefined): SubmittedFlow {
  switch (outcome.kind) {
    case "stored":
      return answerOf(flow, outcome.outcomes);
    case "mismatch":
      throw new IdempotencyMismatchError(key);
    case "conflict":
      throw new UniqueConflictError(outcome.places[0]?.job_id ?? "");
    case "unknown_parents":
      throw new InvalidJobError(
        outcome.places.map(({ at, nth, id }) => {
          return { pointer: `/jobs/${at}/depends_on/${nth}`, message: unknownParent(id) };
        }),
      );
    default:
      return outcome satisfies never;
  }
}
