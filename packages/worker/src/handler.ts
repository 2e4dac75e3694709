import { limits, type Json } from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import { z } from "zod";

/** What a handler gets beside its payload. */
export type JobContext = {
  job: {
    id: string;
    type: string;
    queue: string;
    attempt: number;
    max_attempts: number;
    last_error: string | null;
  };
  /** Aborts at the timeout, when the lease is lost, and at the deadline of a shutdown. Pass it to what you await. */
  signal: AbortSignal;
  /** Writes JSON lines that carry the job's id, type and attempt. */
  logger: Logger;
};

/** Returning stores the result; throwing fails the attempt, and the job is tried again after its backoff. */
export type HandlerFunction<P> = (payload: P, context: JobContext) => Promise<unknown> | unknown;

export type HandlerOptions = {
  /** The attempt fails with a TimeoutError after so long. A job's own `timeout_seconds` comes first. Default: none. */
  timeout_seconds?: number;
};

export type Handler = {
  readonly type: string;
  readonly options: HandlerOptions;
  /** Parses, then runs. Rejects with a PayloadError when the payload does not fit the schema. */
  readonly run: (payload: Json, context: JobContext) => Promise<unknown>;
};

const handlers = new WeakSet<object>();

/**
 * Define what happens to jobs of a type. The schema checks the payload of every job before the function sees it.
 *
 * @example
 * export const sendEmail = defineHandler("email.send", z.object({ to: z.email() }), async ({ to }, { signal }) => {
 *   await fetch(`https://mail.example/send?to=${to}`, { method: "POST", signal });
 * });
 */
export function defineHandler<S extends z.ZodType>(
  type: string,
  schema: S,
  run: HandlerFunction<z.output<S>>,
  options: HandlerOptions = {},
): Handler {
  const { timeout_seconds } = options;
  if (timeout_seconds !== undefined && !(timeout_seconds > 0 && timeout_seconds <= limits.timeout_seconds_max))
    throw new RangeError(
      `timeout_seconds of ${type} must be a number from 0 to ${limits.timeout_seconds_max}; got ${timeout_seconds}`,
    );
  const handler: Handler = {
    type,
    options,
    async run(payload, context) {
      const parsed = await parse(schema, payload);
      if (!parsed.success) throw new PayloadError(z.prettifyError(parsed.error).replaceAll("\n", " "));
      return run(parsed.data, context);
    },
  };
  handlers.add(handler);
  return handler;
}

/** At once when the schema can; one with asynchronous checks says so by throwing. */
function parse<S extends z.ZodType>(schema: S, payload: Json) {
  try {
    return schema.safeParse(payload);
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return schema.safeParseAsync(payload);
    throw error;
  }
}

/** Whether an export of a user's module was made by `defineHandler`. */
export function isHandler(value: unknown): value is Handler {
  return typeof value === "object" && value !== null && handlers.has(value);
}

/** The payload does not fit the handler's schema. */
export class PayloadError extends Error {
  override readonly name = "PayloadError";
}

/**
 * Throw this to choose when the job is tried again, instead of its backoff. At most a year; a delay that is not a number
 * is as if none was given.
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly delay_ms: number | undefined;
  constructor(message: string, delay_ms: number) {
    super(message);
    this.delay_ms = Number.isFinite(delay_ms)
      ? Math.min(Math.max(0, delay_ms), limits.delay_seconds_max * 1_000)
      : undefined;
  }
}

/** Throw this when trying again cannot help: the job becomes a dead letter at once. */
export class DoNotRetryError extends Error {
  override readonly name = "DoNotRetryError";
}
