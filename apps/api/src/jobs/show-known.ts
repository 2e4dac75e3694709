import type { Job, SubmitJob } from "@atlasqueue/contract";
import type { Deps } from "@atlasqueue/core/internal";
import { afterSome, findJob, showJob, type EnqueueOutcome, type JobRow } from "@atlasqueue/core/internal/http";
import type { RouteDeps } from "../route/deps.ts";

/** What a submission may meet. */
type Met = Extract<EnqueueOutcome, { kind: "replayed" | "existing" | "replaced" }>;

/**
 * A job that a request met instead of making one, as it is now. If it has just been removed, then as it was, with the
 * request's payload.
 *
 * @example
 * if (outcome.kind === "replayed") return showKnown(deps, outcome, request);
 */
export async function showKnown(
  deps: Pick<Deps, "database">,
  { kind, job: known }: Met,
  { payload }: Pick<SubmitJob, "payload">,
): Promise<Job> {
  const row = await findJob(deps, known.tenant, known.id).catch(afterSome(kind !== "replayed"));
  return showJob(row ?? { ...known, payload, result: null, progress: null, last_error: null });
}

/** What follows a retry, edited or not, and its answer: the job is signalled, and is no dead letter any more. */
export async function showRetried(
  { followUps }: Pick<RouteDeps, "followUps">,
  { job, was_dead }: { job: JobRow; was_dead: boolean },
) {
  await followUps.retried({ ready: job.status === "queued" ? [job] : [], were_dead: was_dead ? [job.id] : [] });
  return showJob(job);
}
