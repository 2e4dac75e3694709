import type { Job, SubmitJob } from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import type { KnownJob } from "../submit/known-job.ts";
import { findJob } from "./find.ts";
import { showJob } from "./show.ts";

/**
 * A job that a request met instead of making one, as it is now. If it has just been removed, then as it was, with the
 * request's payload.
 *
 * @example
 * if (outcome.kind === "replayed") return showKnown(deps, outcome.job, request);
 */
export async function showKnown(
  deps: Pick<Deps, "database">,
  known: KnownJob,
  { payload }: Pick<SubmitJob, "payload">,
): Promise<Job> {
  const row = await findJob(deps, known.tenant, known.id);
  return showJob(row ?? { ...known, payload, result: null, progress: null, last_error: null });
}
