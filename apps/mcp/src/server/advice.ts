import {
  AtlasQueueError,
  AuthError,
  IdempotencyMismatchError,
  JobFinishedError,
  LeaseLostError,
  NetworkError,
  NotFoundError,
  NotRetryableError,
  RateLimitError,
  TimeoutError,
  TooLargeError,
  UnavailableError,
  UnderWayError,
  ValidationError,
} from "@atlasqueue/client";
import { Refusal } from "../refusal.ts";

const chars_max = 1_500;

/**
 * What went wrong and what to do next, for a model to read; undefined for a mistake of ours.
 *
 * @example
 * adviceOn(error); // "The job has finished: … retry_job runs it again; get_job_details shows how it ended."
 */
export function adviceOn(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.message;
  if (!(error instanceof AtlasQueueError)) return undefined;
  return `${said(error).slice(0, chars_max).toWellFormed()} ${nextStep(error)}`;
}

/** In the API's own words, without the request they answer. */
function said({ problem, message }: AtlasQueueError): string {
  if (!problem) return message;
  const faults = (problem.errors ?? []).map(({ pointer, message: fault }) => `${pointer} ${fault}`).join("; ");
  return `${problem.title}: ${faults || problem.detail}.`;
}

function nextStep(error: AtlasQueueError): string {
  const { retryAfterMs = 1_000, status } = error;
  const later = `Wait ${Math.ceil(retryAfterMs / 1_000)} s, then call again with the same arguments.`;
  if (error instanceof AuthError)
    return status === 403
      ? "Tools for which the token has the scope still work; ask your user for one that has this scope too."
      : "Ask your user to check the token this server was set up with.";
  if (error instanceof NotFoundError)
    return "Check the id: list_jobs and list_flows show those this token may see. Finished jobs are removed after a while.";
  if (error instanceof LeaseLostError)
    return "Stop working on this job: another worker may have it. lease_job takes the next one.";
  if (error instanceof JobFinishedError) return "get_job_details shows how it ended; retry_job runs it again.";
  if (error instanceof NotRetryableError) return "get_job_status shows its status; explain_job why it is not running.";
  if (error instanceof IdempotencyMismatchError)
    return "For something new use a new idempotency_key; to repeat a call, send the same arguments as the first time.";
  if (error instanceof TooLargeError)
    return "Keep large data elsewhere and send where it is; send fewer jobs in one call.";
  if (error instanceof RateLimitError || error instanceof UnavailableError || error instanceof UnderWayError)
    return later;
  if (error instanceof NetworkError || error instanceof TimeoutError)
    return "Whether it was done is not known. Call again with the same arguments, the idempotency_key included.";
  if (error instanceof ValidationError) return "Correct it, and call again.";
  return "Tell your user, with this message.";
}
