import type { Job, SubmitJobInput } from "@atlasqueue/contract";
import { base } from "../../base.ts";

/** The submission that makes another job like this one. */
export function submissionOf(job: Job): SubmitJobInput {
  const { type, queue, payload, priority, max_attempts, timeout_seconds, group, tags } = job;
  return {
    type,
    queue,
    payload,
    ...(priority === 0 ? {} : { priority }),
    max_attempts,
    ...(timeout_seconds === null ? {} : { timeout_seconds }),
    ...(group === null ? {} : { group }),
    ...(tags === null ? {} : { tags }),
  };
}

/** A line for a shell. The key is the reader's to choose: each paste of the same one is the same job. */
export function curlOf(job: Job, signed_in: boolean): string {
  const token = signed_in ? ` -H "Authorization: Bearer $ATLASQUEUE_TOKEN"` : "";
  const body = JSON.stringify(submissionOf(job)).replaceAll("'", String.raw`'\''`);
  return `curl -sS ${base}/v1/jobs${token} -H 'Content-Type: application/json' -H "Idempotency-Key: again-$(date +%s)" -d '${body}'`;
}

export function codeOf(job: Job, signed_in: boolean): string {
  const token = signed_in ? ', token: "aq_…"' : "";
  return [
    'import { createClient } from "@atlasqueue/client";',
    "",
    `const client = createClient({ url: ${JSON.stringify(base)}${token} });`,
    `await client.submit(${JSON.stringify(submissionOf(job), null, 2)});`,
    "",
  ].join("\n");
}
