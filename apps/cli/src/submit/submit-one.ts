import { randomUUID } from "node:crypto";
import { AtlasQueueError, TimeoutError } from "@atlasqueue/client";
import { exitCodes, Trouble } from "../exit.ts";
import { plainJson } from "../output/plain.ts";
import { troubleOf } from "../remote/trouble.ts";
import { patientClient, postJob, type JobSummary, type Target } from "./post-job.ts";

export type OneOptions = {
  target: Target;
  /** Default: a random one. */
  key: string | undefined;
  request: Record<string, unknown>;
  wait_ms: number | undefined;
  json: boolean;
  write: (text: string) => void;
};

/** Submit one job, report what became of it, and if asked wait for its end. Resolves to the exit code. */
export async function submitOne(options: OneOptions): Promise<number> {
  const { target, wait_ms, json, write } = options;
  const key = options.key ?? randomUUID();
  const client = patientClient(target);
  const posted = await postJob(client, target, key, options.request);
  switch (posted.kind) {
    case "refused":
      throw new Trouble(posted.reason);
    case "gave_up":
      throw new Trouble(`${posted.reason} The same command with --key ${key} is safe to repeat`);
    case "created":
    case "existing":
      break;
    default:
      posted satisfies never;
  }
  const outcome = posted.kind === "created" ? "created" : "already there";
  const tell = (job: JobSummary) => write(`${plainJson({ outcome, idempotency_key: key, job })}\n`);
  if (!json) write(`${outcome.padEnd(14)}${posted.job.id}\nkey           ${key}\nstatus        ${posted.job.status}\n`);
  if (wait_ms === undefined) {
    if (json) tell(posted.job);
    return exitCodes.ok;
  }
  const final = await client.wait(posted.job.id, { timeoutMs: wait_ms }).catch((error: unknown) => {
    if (error instanceof TimeoutError) return undefined;
    throw error instanceof AtlasQueueError ? new Trouble(troubleOf(error, target.url, target.token)) : error;
  });
  if (!final) {
    if (json) tell(posted.job);
    const now = await client.get(posted.job.id).catch(() => posted.job);
    const error = "last_error" in now && now.last_error ? ` (${now.last_error})` : "";
    throw new Trouble(`Job ${now.id} is not finished after ${wait_ms / 1_000} s: it is ${now.status}${error}`);
  }
  if (json) tell(final);
  else write(`${plainJson(final, 2)}\n`);
  return final.status === "succeeded" ? exitCodes.ok : exitCodes.failed;
}
