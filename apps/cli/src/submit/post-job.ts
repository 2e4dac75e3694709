import { AtlasQueueError, createClient, type Client, type Job, type JobSubmission } from "@atlasqueue/client";
import { mayComeLater, troubleOf } from "../remote/trouble.ts";

export type Target = {
  /** Of the API, without /v1. */
  url: string;
  /** For an API with `AUTH=required`. */
  token?: string | undefined;
  /** How long to keep asking an API that is away or busy. */
  patience_ms: number;
};

/** What these commands need of a job. */
export type JobSummary = Pick<Job, "id" | "status">;

export type Posted =
  | { kind: "created" | "existing"; job: JobSummary }
  | { kind: "refused"; reason: string }
  /** Patience ran out. Whether the job exists is unknown; the same key finds out. */
  | { kind: "gave_up"; reason: string };

const request_ms_max = 30_000;

/** A client that tries as long as its patience lasts. */
export function patientClient({ url, token, patience_ms }: Target): Client {
  const own = { timeoutMs: request_ms_max, retries: Infinity, retryMaxMs: patience_ms };
  return createClient({ url, ...(token === undefined ? {} : { token }), ...own });
}

/**
 * POST one job. The API checks the fields. However many tries, there is one job, as all have the same key. Never
 * rejects.
 *
 * @example
 * const posted = await postJob(patientClient(target), target, "order-17", { type: "noop" });
 */
export async function postJob(
  client: Client,
  { url, token }: Target,
  idempotency_key: string,
  request: Record<string, unknown>,
): Promise<Posted> {
  try {
    const { created, job } = await client.submit({ ...(request as JobSubmission), idempotency_key });
    return { kind: created ? "created" : "existing", job };
  } catch (error) {
    if (!(error instanceof AtlasQueueError)) throw error;
    const reason = troubleOf(error, url, token);
    return { kind: mayComeLater(error) ? "gave_up" : "refused", reason };
  }
}
