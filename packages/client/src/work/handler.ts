import {
  limits,
  type Job,
  type JobDefinition,
  type Json,
  type Parents,
  type Spawn,
  type Steps,
} from "@atlasqueue/contract";
import { batched, type BatchFunction, type BatchOptions } from "@atlasqueue/runtime";

/** What a handler gets besides its payload. */
export type RemoteContext = {
  /** As it was leased; `attempts` counts this one. */
  job: Job;
  /** Aborts at the timeout, when the lease is lost, and at the deadline of a stop. Pass it to what you await. */
  signal: AbortSignal;
  /** Report how far the job is, as any JSON. The latest wins, sent at most once a second. Never throws. */
  progress(value: Json): void;
} & Steps &
  Parents &
  Spawn;

/** Returning stores the result; throwing fails the attempt, and the job is retried after its backoff. */
export type HandlerFunction<Payload> = (payload: Payload, context: RemoteContext) => unknown;

export type HandlerOptions = {
  /**
   * The attempt fails with a TimeoutError after this time. A job's own `timeout_seconds` takes precedence. Default:
   * none.
   */
  timeoutSeconds?: number;
};

export type Handler = {
  readonly type: string;
  readonly options: HandlerOptions & Partial<BatchOptions>;
  /** Parses, then runs. Rejects with a PayloadError when the payload does not fit the definition. */
  readonly run: (payload: unknown, context: RemoteContext) => Promise<unknown>;
};

/**
 * Define what happens to jobs of a type. The function sees only payloads that fit the definition, and runs at least
 * once for each job, so it must tolerate being run twice. Throws a RangeError for a timeoutSeconds out of range.
 *
 * @example
 * const handleEmail = defineHandler(sendEmail, async ({ to }, { signal }) => deliver(to, signal));
 * const worker = client.work("default", [handleEmail], { concurrency: 20 });
 */
export function defineHandler<Input, Output>(
  definition: JobDefinition<Input, Output>,
  run: HandlerFunction<Output>,
  options: Handler["options"] = {},
): Handler {
  const { timeoutSeconds } = options;
  if (timeoutSeconds !== undefined && !(timeoutSeconds > 0 && timeoutSeconds <= limits.timeout_seconds_max))
    throw new RangeError(
      `timeoutSeconds of ${definition.type} must be a number from 0 to ${limits.timeout_seconds_max}; got ${timeoutSeconds}`,
    );
  return {
    type: definition.type,
    options,
    run: async (payload, context) => run(await definition.parse(payload), context),
  };
}

/**
 * Define what happens to jobs of a type that are better handled together: up to `size` of them are given to one call. Each
 * keeps its own lease, attempt and cancellation, and has its own result: those whose result is an Error are retried by
 * themselves. Throws a RangeError for options out of range.
 *
 * @example
 * const handleRows = defineBatchHandler(addRow, { size: 100, waitMs: 50 }, async (jobs) => {
 *   await insertAll(jobs.map(({ payload }) => payload));
 *   return jobs.map(() => "added");
 * });
 */
export const defineBatchHandler = <Input, Output>(
  definition: JobDefinition<Input, Output>,
  options: BatchOptions & HandlerOptions,
  run: BatchFunction<Output, RemoteContext>,
): Handler => defineHandler(definition, batched(definition.type, options, run), options);
