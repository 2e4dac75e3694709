import { showValue, type Fault } from "@atlasqueue/contract";
import { flowFaults, tiesOf, type EnqueueOutcome, type FlowJob } from "@atlasqueue/core/internal/http";
import { invalid } from "../http/answers/problem.ts";
import type { RouteDeps } from "../route/deps.ts";

/**
 * Submit a job that waits for jobs that exist: a flow of one. Its outcome is what any single job's is.
 *
 * @example
 * const outcome = await submitDependent(deps, { tenant, request, idempotency_key, depends_on: [id] });
 */
export async function submitDependent(deps: RouteDeps, job: FlowJob): Promise<EnqueueOutcome> {
  const faults = flowFaults({ jobs: [{ ...job, idempotency_key: undefined }] });
  if (faults.length > 0) throw invalid(faults.map(ofSingle));
  const outcome = await deps.submitter.submitFlow({ jobs: [{ ...job, fingerprint: tiesOf(job) }] });
  if (outcome.kind === "unknown_parents") throw invalid(outcome.places.slice(0, 20).map(unknownParent));
  if (outcome.kind === "conflict") return { kind: "conflict", job_id: outcome.places[0]?.job_id ?? "" };
  return outcome.kind === "mismatch" ? outcome : (outcome.outcomes[0] as EnqueueOutcome);
}

const ofSingle = ({ pointer, message }: Fault): Fault => ({ pointer: pointer.replace("/jobs/0", ""), message });

const unknownParent = ({ nth, id }: { nth: number; id: string }): Fault => {
  return { pointer: `/depends_on/${nth}`, message: `must be the id of a job that exists; got ${showValue(id)}` };
};
