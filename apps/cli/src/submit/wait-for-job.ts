import { setTimeout as sleep } from "node:timers/promises";
import { isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { jobSummary, type JobSummary } from "./answers.ts";
import { authorization, folderOf, parseJson, type Target } from "./post-job.ts";

type Api = Pick<Target, "url" | "token">;

const pause_ms_min = 50;
const pause_ms_max = 1_000;
const request_ms_max = 10_000;

/**
 * Ask for a job until it is final; undefined when it is not by the deadline. An API that is away meanwhile is asked
 * again.
 */
export async function waitForJob(api: Api, id: string, timeout_ms: number): Promise<JobSummary | undefined> {
  const deadline = performance.now() + timeout_ms;
  for (let pause_ms = pause_ms_min; ; pause_ms = Math.min(pause_ms * 1.5, pause_ms_max)) {
    const job = await look(api, id);
    if (job && isFinal(statusOf(job))) return job;
    const left_ms = deadline - performance.now();
    if (left_ms <= 0) return undefined;
    await sleep(Math.min(pause_ms, left_ms));
  }
}

async function look({ url, token }: Api, id: string): Promise<JobSummary | undefined> {
  try {
    const target = new URL(`v1/jobs/${id}`, folderOf(url));
    const response = await fetch(target, {
      headers: authorization(token),
      signal: AbortSignal.timeout(request_ms_max),
    });
    return jobSummary.safeParse(parseJson(await response.text())).data;
  } catch {
    return undefined;
  }
}

/** A status that a newer API has is taken for one that goes on. */
function statusOf(job: JobSummary): JobStatus {
  return jobStatuses.find((status) => status === job.status) ?? "queued";
}
