import { showJob, type JobRow } from "@atlasqueue/core/internal/http";
import type { RouteDeps } from "../route/deps.ts";

/** What follows a retry, edited or not, and its answer: the job is signalled, and is no dead letter any more. */
export async function showRetried(
  { followUps }: Pick<RouteDeps, "followUps">,
  { job, was_dead }: { job: JobRow; was_dead: boolean },
) {
  await followUps.retried({ ready: job.status === "queued" ? [job] : [], were_dead: was_dead ? [job.id] : [] });
  return showJob(job);
}
