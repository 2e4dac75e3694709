import { idempotencyKeyAccepts, type Fault, type ProblemKind } from "@atlasqueue/contract";
import { refusalFaults } from "@atlasqueue/core/internal";
import { isFlow, type Flow, type FlowOutcome } from "@atlasqueue/core/internal/http";
import { invalid, ProblemError } from "../http/answers/problem.ts";

const faults_max = 20;

/** Where a job of a batch is in the request. */
export const pointerAt = ({ jobs }: Flow, at: number): string => (at < jobs.length ? `/jobs/${at}` : "/then");

/** Each job has its own key, or the header's key is that of all, as it must be where jobs wait for others. */
export function keyFaults(asked: Flow, key: string | undefined): Fault[] {
  if (isFlow(asked)) {
    const message = `is required where jobs wait for one another, and stands for the whole batch: ${idempotencyKeyAccepts}`;
    return key === undefined ? [{ pointer: "header:Idempotency-Key", message }] : [];
  }
  return asked.jobs.flatMap(({ idempotency_key }, at) => {
    if ((idempotency_key === undefined) !== (key === undefined)) return [];
    const message =
      key === undefined
        ? `is required, unless an Idempotency-Key header stands for the whole batch: ${idempotencyKeyAccepts}`
        : "must be left out, as the Idempotency-Key header stands for the whole batch";
    return [{ pointer: `/jobs/${at}/idempotency_key`, message }];
  });
}

/** Why nothing of a batch was stored. `key` is that of the header. */
export function refusalOf(
  outcome: Exclude<FlowOutcome, { kind: "stored" }>,
  flow: Flow,
  key: string | undefined,
): ProblemError {
  switch (outcome.kind) {
    case "mismatch":
      return key === undefined ? mismatches(outcome.places) : mismatch(flow);
    case "conflict":
      return conflicts(refusalFaults(outcome, (at) => pointerAt(flow, at)));
    case "unknown_parents":
      return invalid(refusalFaults(outcome, (at) => pointerAt(flow, at)));
    default:
      return outcome satisfies never;
  }
}

function mismatch(flow: Flow): ProblemError {
  const removed = isFlow(flow) ? ", or to this one, of which jobs were removed since" : "";
  const detail = `The key belongs to another batch${removed}; a new batch needs a new key`;
  return new ProblemError("idempotency_mismatch", detail);
}

function mismatches(places: readonly number[]): ProblemError {
  const errors = places.slice(0, faults_max).map((at) => ({
    pointer: `/jobs/${at}/idempotency_key`,
    message: "belongs to a job with another body; a new job needs a new key",
  }));
  return nothingStored("idempotency_mismatch", errors);
}

/** Nothing was stored, as jobs with the unique keys at these places exist. */
export const conflicts = (errors: Fault[]): ProblemError => nothingStored("unique_conflict", errors);

function nothingStored(kind: ProblemKind, errors: Fault[]): ProblemError {
  const [first] = errors;
  return new ProblemError(kind, `Nothing was stored: ${first?.pointer} ${first?.message}`, { errors });
}
