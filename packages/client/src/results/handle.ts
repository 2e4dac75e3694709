import { readError, type Job, type JobStatus, type Json } from "@atlasqueue/contract";
import { JobCancelledError, JobFailedError } from "../errors.ts";
import type { CallOptions } from "../http/transport.ts";
import type { WaitForJob, WaitOptions } from "./waits.ts";

/**
 * A submitted job, to ask for what becomes of it. `submit` and `submitMany` make them, and `client.handle(id)` makes one
 * of an id that was kept. As JSON it is its plain fields.
 */
export type Handle<Result = Json> = {
  readonly id: string;
  /** What the job is now. Rejects with NotFoundError. */
  status(call?: CallOptions): Promise<JobStatus>;
  /**
   * What the handler returned, when the job has succeeded. Rejects with JobFailedError when it is dead, JobCancelledError
   * when it is cancelled, TimeoutError after `timeoutMs` (default a minute; Infinity for ever), PayloadError when the
   * definition's schema of results does not take it, and NotFoundError. An API that is away meanwhile is waited for.
   */
  result(options?: WaitOptions): Promise<Result>;
};

export type HandleSource<Result> = {
  get(id: string, call?: CallOptions): Promise<Job>;
  wait: WaitForJob;
  parse(result: Json): Result | Promise<Result>;
};

export function createHandle<Result, Fields extends { id: string }>(
  fields: Fields,
  { get, wait, parse }: HandleSource<Result>,
): Fields & Handle<Result> {
  const { id } = fields;
  return {
    ...fields,
    status: async (call) => (await get(id, call)).status,
    result: async (options) => parse(resultOf(await wait(id, options))),
  };
}

/** Throws what a final job without a result is. */
function resultOf(job: Job): Json {
  if (job.status === "succeeded") return job.result;
  if (job.status === "cancelled") throw new JobCancelledError(job);
  throw new JobFailedError(job, readError(job));
}
