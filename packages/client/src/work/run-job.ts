import {
  createSpawn,
  readThrown,
  storableResult,
  type Job,
  type Json,
  type Parents,
  type SpawnedJobs,
  type Steps,
  type Thrown,
} from "@atlasqueue/contract";
import type { Handler, RemoteContext } from "./handler.ts";

export type Outcome =
  /** `bytes` is the length of the result as JSON, `spawned` the jobs it adds. */
  { kind: "succeeded"; result: Json; bytes: number; spawned?: SpawnedJobs | undefined } | ({ kind: "failed" } & Thrown);

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and anything thrown fail that job alone, in the same words as in a worker with a database
 * connection.
 */
export async function runJob(
  handler: Handler | undefined,
  job: Job,
  stop: AbortController,
  progress: RemoteContext["progress"],
  more: Steps & Parents,
): Promise<Outcome> {
  if (!handler) return failed(new Error(`no handler for type ${JSON.stringify(job.type)}`), "UnknownType");
  const timeout_seconds = job.timeout_seconds ?? handler.options.timeoutSeconds;
  const { spawn, spawned } = createSpawn();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const running = handler.run(job.payload, { job, signal: stop.signal, progress, spawn, ...more });
    if (timeout_seconds === undefined) return storable(await running, spawned);
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new DOMException(`the handler ran longer than ${timeout_seconds} s`, "TimeoutError");
        reject(error);
        stop.abort(error);
      }, timeout_seconds * 1_000);
    });
    return storable(await Promise.race([running, timeout]), spawned);
  } catch (thrown) {
    return failed(thrown);
  } finally {
    clearTimeout(timer);
  }
}

function failed(thrown: unknown, name?: string): Outcome {
  return { kind: "failed", ...readThrown(thrown, name) };
}

function storable(returned: unknown, spawned: () => SpawnedJobs | undefined): Outcome {
  const checked = storableResult(returned);
  if (checked.kind === "refused") return failed(checked.reason, "ResultError");
  return { kind: "succeeded", result: checked.result, bytes: checked.bytes, spawned: spawned() };
}
