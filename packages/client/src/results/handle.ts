import { readError, type Job, type JobStatus, type Json } from "@atlasqueue/contract";
import { JobCancelledError, JobFailedError } from "../errors.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";
import type { StepCalls } from "../resources/steps.ts";
import type { WaitForJob, WaitOptions } from "./waits.ts";

/**
 * A submitted job, to follow. `submit` and `submitMany` make handles, and `client.handle(id)` makes one from an id you
 * kept. As JSON it is its plain fields.
 */
export type Handle<Result = Json> = {
  readonly id: string;
  /** The job's status now. Rejects with NotFoundError. */
  status(call?: CallOptions): Promise<JobStatus>;
  /**
   * What the handler returned, when the job has succeeded. Rejects with JobFailedError when it is dead, JobCancelledError
   * when it is cancelled, TimeoutError after `timeoutMs` (default a minute; Infinity for no limit), PayloadError when
   * the definition's result schema does not accept it, and NotFoundError. While the API is away it waits for it.
   */
  result(options?: WaitOptions): Promise<Result>;
  /** Send it a signal that its handler waits for, or will: see `client.signal`. */
  signal(name: string, payload?: Json, call?: ActOptions): ReturnType<StepCalls["signal"]>;
};

export type HandleSource<Result> = {
  get(id: string, call?: CallOptions): Promise<Job>;
  wait: WaitForJob;
  signal: StepCalls["signal"];
  parse(result: Json): Result | Promise<Result>;
};

export function createHandle<Result, Fields extends { id: string }>(
  fields: Fields,
  { get, wait, signal, parse }: HandleSource<Result>,
): Fields & Handle<Result> {
  const { id } = fields;
  return {
    ...fields,
    status: async (call) => (await get(id, call)).status,
    result: async (options) => parse(resultOf(await wait(id, options))),
    signal: (name, payload, call) => signal(id, name, payload, call),
  };
}

/** Throws the error for a final job without a result. */
function resultOf(job: Job): Json {
  if (job.status === "succeeded") return job.result;
  if (job.status === "cancelled") throw new JobCancelledError(job);
  throw new JobFailedError(job, readError(job));
}
