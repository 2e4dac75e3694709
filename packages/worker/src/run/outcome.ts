import {
  readThrown,
  storableResult,
  type Json,
  type LogLine,
  type SpawnedJobs,
  type Thrown,
} from "@atlasqueue/contract";
import type { Handler } from "../handler.ts";

/** How a handler ended. Plain data: it crosses from process to process. */
export type Outcome =
  /** `bytes` is the length of the result as JSON, `spawned` the jobs it adds. */
  | { kind: "succeeded"; result: Json; bytes: number; log?: LogLine[] | undefined; spawned?: SpawnedJobs | undefined }
  | ({ kind: "failed"; log?: LogLine[] | undefined } & Thrown)
  /** It waits for a signal, and is not held any more. */
  | { kind: "parked" }
  /** No process could be started for it: it goes back, with no attempt spent. */
  | { kind: "not_started"; error: string };
/** One that is to be stored. */
export type Ending = Exclude<Outcome, { kind: "parked" | "not_started" }>;

/** What was thrown, as the failure of an attempt. `name` replaces the error's own. */
export function failed(thrown: unknown, name?: string): Ending {
  return { kind: "failed", ...readThrown(thrown, name) };
}

/**
 * What a handler returned, as the success of an attempt, with the jobs it added; without the result when the handler's
 * are not kept.
 */
export function succeeded({ options }: Handler, returned: unknown, spawned: SpawnedJobs | undefined): Ending {
  const outcome = storable(options.keepResult === false ? null : returned);
  return spawned && outcome.kind === "succeeded" ? { ...outcome, spawned } : outcome;
}

function storable(returned: unknown): Ending {
  const checked = storableResult(returned);
  if (checked.kind === "refused") return failed(checked.reason, "ResultError");
  return { kind: "succeeded", result: checked.result, bytes: checked.bytes };
}
