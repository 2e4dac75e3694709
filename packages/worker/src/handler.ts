import {
  limits,
  payloadParser,
  type HandlerMiddleware as MiddlewareOf,
  type JobDefinition,
  type Json,
  type OutputOf,
  type Parents,
  type Spawn,
  type StandardSchema,
  type Steps,
} from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import { batched, type BatchFunction, type BatchOptions } from "@atlasqueue/runtime";

export {
  DoNotRetryError,
  PayloadError,
  RetryAfterError,
  SpawnError,
  StepError,
  type SignalWait,
} from "@atlasqueue/contract";

/** What a handler gets besides its payload. */
export type JobContext = {
  job: {
    id: string;
    /** Whose it is: a worker may serve many. */
    tenant: string;
    type: string;
    queue: string;
    attempt: number;
    max_attempts: number;
    last_error: string | null;
    /** The flow it was submitted in: jobs that wait for one another. */
    flow_id: string | null;
  };
  /** Aborts at the timeout, when the lease is lost, and at the deadline of a shutdown. Pass it to what you await. */
  signal: AbortSignal;
  /** Writes JSON lines that carry the job's id, type and attempt. */
  logger: Logger;
  /**
   * How far it is, from 0 to 1, shown with the job while it runs. Call it as often as you like: the newest value is
   * stored at most once a second, and one from the last second may not be.
   */
  progress(done: number, note?: string): void;
  /** Keep a line with this attempt: the newest hundred, of at most 1,000 characters. Stored when the attempt ends. */
  log(line: string): void;
} & Steps &
  Parents &
  Spawn;

/** Around each handler: `next()` runs it and resolves with its result. What this returns is stored; throwing fails the attempt. */
export type HandlerMiddleware = MiddlewareOf<JobContext["job"]>;

/** Returning stores the result; throwing fails the attempt, and the job is retried after its backoff. */
export type HandlerFunction<P> = (payload: P, context: JobContext) => Promise<unknown> | unknown;

export type HandlerOptions = {
  /**
   * The attempt fails with a TimeoutError after this time. A job's own `timeout_seconds` takes precedence. Default:
   * none.
   */
  timeoutSeconds?: number;
  /** False: what it returns is not stored, and the job's result is null. Default true. */
  keepResult?: boolean;
  /**
   * Run it in its own process, so that it cannot hold up the worker: at its timeout the process is killed, whatever it
   * does. The process loads the module again and finds the handler among its exports. `true` where the worker loads the
   * module itself (WORKER_HANDLERS); otherwise name the module: `{ module: import.meta.url }`.
   */
  isolate?: boolean | { module: string };
};

/** A handler of batches has no process of its own. */
export type BatchHandlerOptions = BatchOptions & Omit<HandlerOptions, "isolate">;

export type Handler = {
  readonly type: string;
  readonly options: HandlerOptions & Partial<BatchOptions>;
  /** The URL of the module that exports it, if known. */
  readonly module: string | undefined;
  /** Parses, then runs. Rejects with a PayloadError when the payload does not fit the schema. */
  readonly run: (payload: Json, context: JobContext) => Promise<unknown>;
};

const handlers = new WeakSet<object>();

/** Whether it is to run in a process of its own. */
export const isIsolated = ({ options: { isolate = false } }: Handler): boolean => isolate !== false;

/**
 * Define what happens to jobs of a type: one made by `defineJob`, or a name and a payload schema. The schema, of zod,
 * valibot, arktype or another library with Standard Schema, checks every job's payload before the function sees it. Throws
 * a RangeError for a `timeoutSeconds` out of range, and a TypeError for a schema that is none.
 *
 * @example
 * export const handleEmail = defineHandler(sendEmail, async ({ to }, { signal }) => {
 *   await fetch(`https://mail.example/send?to=${to}`, { method: "POST", signal });
 * });
 * export const sum = defineHandler("sum", z.object({ a: z.number(), b: z.number() }), ({ a, b }) => a + b);
 */
export function defineHandler<Input, Output>(
  definition: JobDefinition<Input, Output>,
  run: HandlerFunction<Output>,
  options?: HandlerOptions,
): Handler;
export function defineHandler<S extends StandardSchema>(
  type: string,
  schema: S,
  run: HandlerFunction<OutputOf<S>>,
  options?: HandlerOptions,
): Handler;
export function defineHandler(
  first: string | JobDefinition,
  second: StandardSchema | HandlerFunction<never>,
  third?: HandlerFunction<never> | HandlerOptions,
  options?: HandlerOptions,
): Handler {
  if (typeof first !== "string")
    return makeHandler(first.type, first.parse, second as HandlerFunction<never>, third as HandlerOptions | undefined);
  return makeHandler(first, payloadParser(first, second as StandardSchema), third as HandlerFunction<never>, options);
}

/**
 * Define what happens to jobs of a type that are better handled together: up to `size` of them are given to one call. Each
 * keeps its own lease, attempt and cancellation, and has its own result: those whose result is an Error are retried by
 * themselves. Throws like `defineHandler`, and a RangeError for a `size` or a `waitMs` out of range.
 *
 * @example
 * export const index = defineBatchHandler("index", z.object({ text: z.string() }), { size: 100, waitMs: 50 }, async (jobs) => {
 *   const failed = await search.add(jobs.map(({ id, payload }) => ({ id, ...payload })));
 *   return jobs.map(({ id }) => (failed.has(id) ? new Error("not indexed") : "indexed"));
 * });
 */
export function defineBatchHandler<Input, Output>(
  definition: JobDefinition<Input, Output>,
  options: BatchHandlerOptions,
  run: BatchFunction<Output, JobContext>,
): Handler;
export function defineBatchHandler<S extends StandardSchema>(
  type: string,
  schema: S,
  options: BatchHandlerOptions,
  run: BatchFunction<OutputOf<S>, JobContext>,
): Handler;
export function defineBatchHandler(first: string | JobDefinition, ...rest: unknown[]): Handler {
  const { type, parse } =
    typeof first === "string" ? { type: first, parse: payloadParser(first, rest.shift() as StandardSchema) } : first;
  const [options, run] = rest as [BatchHandlerOptions, BatchFunction<never, JobContext>];
  return makeHandler(type, parse, batched(type, options, run), options);
}

function makeHandler(
  type: string,
  parse: JobDefinition["parse"],
  run: HandlerFunction<never>,
  options: Handler["options"] = {},
): Handler {
  const { timeoutSeconds } = options;
  if (timeoutSeconds !== undefined && !(timeoutSeconds > 0 && timeoutSeconds <= limits.timeout_seconds_max))
    throw new RangeError(
      `timeoutSeconds of ${type} must be a number from 0 to ${limits.timeout_seconds_max}; got ${timeoutSeconds}`,
    );
  const handler: Handler = {
    type,
    options,
    module: typeof options.isolate === "object" ? options.isolate.module : undefined,
    // The overloads ensure that the function takes what the schema makes.
    run: async (payload, context) => run((await parse(payload)) as never, context),
  };
  handlers.add(handler);
  return handler;
}

/** What is stored of a handler's return value. */
export function keptResult({ options }: Handler, returned: unknown): unknown {
  return options.keepResult === false ? null : returned;
}

/**
 * The handlers among a module's exports: by any name, as the default, or in an array. `url` is where it was loaded
 * from.
 */
export function handlersOf(module: object, url: string): Handler[] {
  const found = [...new Set(Object.values(module).flat())].filter(isHandler);
  return found.map((handler) => {
    const located: Handler = { ...handler, module: handler.module ?? url };
    handlers.add(located);
    return located;
  });
}

/** Whether an export of a user's module was made by `defineHandler`. */
export function isHandler(value: unknown): value is Handler {
  return typeof value === "object" && value !== null && handlers.has(value);
}

/** That of its type, or else the one for all other types. */
export const handlerFor = (all: ReadonlyMap<string, Handler>, type: string) => all.get(type) ?? all.get("*");

/** Throws for two of one type. */
export function handlersByType(all: readonly Handler[]): ReadonlyMap<string, Handler> {
  const byType = new Map<string, Handler>();
  for (const handler of all) {
    if (byType.has(handler.type)) throw new Error(`two handlers for the type ${JSON.stringify(handler.type)}`);
    if (isIsolated(handler) && handler.module === undefined)
      throw new Error(
        `the module of the handler ${handler.type} is not known; use isolate: { module: import.meta.url }`,
      );
    byType.set(handler.type, handler);
  }
  return byType;
}
