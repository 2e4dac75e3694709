import {
  readThrown,
  storableResult,
  type Json,
  type LogLine,
  type SpawnedJobs,
  type Thrown,
} from "@atlasqueue/contract";

/** How a handler ended. Plain data, as one process sends it to another. */
export type Ending =
  /** `bytes` is the length of the result as JSON, `spawned` the jobs it adds. */
  | { kind: "succeeded"; result: Json; bytes: number; log?: LogLine[] | undefined; spawned?: SpawnedJobs | undefined }
  | ({ kind: "failed"; log?: LogLine[] | undefined } & Thrown);

/** A handler's error, as the failure of an attempt. `name` replaces the error's own. */
export function failed(thrown: unknown, name?: string): Ending {
  return { kind: "failed", ...readThrown(thrown, name) };
}

/** The failure of a job that no handler here takes. */
export const unknownType = (type: string): Ending =>
  failed(new Error(`no handler for type ${JSON.stringify(type)}`), "UnknownType");

/** A handler's return value, as the success of an attempt, with the jobs it added. */
export function succeeded(returned: unknown, spawned: SpawnedJobs | undefined): Ending {
  const checked = storableResult(returned);
  if (checked.kind === "refused") return failed(checked.reason, "ResultError");
  const { result, bytes } = checked;
  return spawned ? { kind: "succeeded", result, bytes, spawned } : { kind: "succeeded", result, bytes };
}
