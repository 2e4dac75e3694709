import { limits } from "@atlasqueue/contract";
import type { Ending } from "@atlasqueue/runtime";
import { isFinal, isRefusal, isRefusalToAdd } from "./answers.ts";
import type { HeldJob } from "./held-jobs.ts";

/** It goes back with no attempt counted: its handler was not let finish, or (`later`) there is none. */
type Released = { kind: "released"; later?: true };
/** What became of a job, on its way to the API: how often that failed, and how often it was refused, of late. */
export type Settlement = { job: HeldJob; outcome: Ending | Released; failures: number; refusals: number };

const batch_max = 200;
/** Below the 1 MiB of a body, leaving room for what surrounds the results. */
const batch_bytes_max = 900_000;
/** As JSON, an error text may take six bytes a character, and its data comes on top. */
const error_bytes_max = 25_000 + limits.error_data_bytes_max;
const surrounding_bytes = 200;

type Success = Settlement & { outcome: { kind: "succeeded" } };
type Failure = Settlement & { outcome: { kind: "failed" } };
export const isSuccess = (item: Settlement): item is Success => item.outcome.kind === "succeeded";
export const isFailure = (item: Settlement): item is Failure => item.outcome.kind === "failed";
export const isRelease = (item: Settlement): item is Settlement & { outcome: Released } =>
  item.outcome.kind === "released";

export function heldFields({ leased }: HeldJob) {
  return { id: leased.job.id, lease_token: leased.lease_token };
}

export function nackFields({ error, error_data, retryable, delay_ms }: Extract<Ending, { kind: "failed" }>) {
  return {
    error,
    retry: retryable,
    ...(delay_ms === undefined ? {} : { delay_seconds: delay_ms / 1_000 }),
    ...(error_data === undefined ? {} : { error_data }),
  };
}

const addsJobs = ({ outcome }: Settlement) => outcome.kind === "succeeded" && outcome.spawned !== undefined;

/**
 * Whether these outcomes will not be accepted as they are. Of several a gateway's word is enough: each by itself may be small
 * enough for it. Counts how often they have been refused.
 */
export function areRefused(batch: readonly Settlement[], error: unknown): boolean {
  const is_refusal = isRefusal(error) || (batch.some(addsJobs) && isRefusalToAdd(error));
  for (const item of batch) item.refusals = is_refusal ? item.refusals + 1 : 0;
  return is_refusal && (batch.length > 1 || batch.some(({ refusals }) => isFinal(error, refusals)));
}

function bytesOf(outcome: Settlement["outcome"]): number {
  if (outcome.kind === "released") return 0;
  return outcome.kind === "succeeded" ? outcome.bytes : error_bytes_max;
}

/** The first of those that wait, and the others that may go in a request with it: they wait no more. */
export function takeBatch(waiting: Settlement[]): Settlement[] {
  const batch: Settlement[] = [];
  let bytes = 0;
  for (const item of waiting) {
    const [first] = batch;
    // The next jobs are asked for all acks of a request alike, and repeated under its token.
    if (first && (item.job.goes_on !== first.job.goes_on || item.job.next_token !== first.job.next_token)) continue;
    bytes += surrounding_bytes + bytesOf(item.outcome);
    if (first && (bytes > batch_bytes_max || addsJobs(item))) break;
    batch.push(item);
    // What adds jobs goes alone.
    if (batch.length === batch_max || addsJobs(item)) break;
  }
  const taken = new Set(batch);
  waiting.splice(0, waiting.length, ...waiting.filter((item) => !taken.has(item)));
  return batch;
}
