import { limits, type JobSubmission, type SubmittedBatch } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";
import type { CallOptions, Send } from "../http/transport.ts";

/** `created` is false when the key was already used for the same job. */
export type Submitted = SubmittedBatch["jobs"][number];

const opening = '{"jobs":[';
const closing = "]}";
const text_bytes_max = limits.body_bytes_max - opening.length - closing.length;

/** Any number of jobs, in requests as large as the server accepts, one after another: group order is kept. */
export async function submitInParts(
  send: Send,
  jobs: readonly JobSubmission[],
  call: CallOptions | undefined,
): Promise<Submitted[]> {
  const submitted: Submitted[] = [];
  for (const part of partsOf(jobs)) {
    const body = `${opening}${part.join(",")}${closing}`;
    const answer = await send({ method: "POST", path: "/v1/jobs/batch", body, repeat: "always" }, call);
    submitted.push(...(answer.body as SubmittedBatch).jobs);
  }
  return submitted;
}

/** The jobs as JSON. One too large for any request becomes its own part, and the server says so. */
function* partsOf(jobs: readonly JobSubmission[]): Generator<string[]> {
  const encoder = new TextEncoder();
  let part: string[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const text = JSON.stringify({ ...job, idempotency_key: job.idempotency_key ?? randomKey() });
    const more = encoder.encode(text).length + 1;
    if (part.length > 0 && (part.length === limits.batch_items_max || bytes + more > text_bytes_max)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(text);
    bytes += more;
  }
  if (part.length > 0) yield part;
}
