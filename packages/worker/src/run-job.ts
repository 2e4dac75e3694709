import { errorData, findFaults, limits, type Json } from "@atlasqueue/contract";
import { errorText, storableText, type Lease, type Logger } from "@atlasqueue/core";
import { abort, signalOf, type LazyAbort } from "./lazy-abort.ts";
import { DoNotRetryError, RetryAfterError, type Handler, type JobContext } from "./handler.ts";

export type Outcome =
  /** `bytes` is the length of the result as JSON. */
  | { kind: "succeeded"; result: Json; bytes: number }
  | { kind: "failed"; error: string; error_data?: Json | undefined; retryable: boolean; delay_ms?: number | undefined };

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and whatever is thrown are failures of that job alone. Aborting `lazy` aborts the handler's signal.
 */
export async function runJob(
  lease: Lease,
  handler: Handler | undefined,
  lazy: LazyAbort,
  logger: Logger,
): Promise<Outcome> {
  if (!handler) return failed(new Error(`no handler for type ${JSON.stringify(lease.type)}`), "UnknownType");
  const timeout_seconds = lease.timeout_seconds ?? handler.options.timeout_seconds;
  let timer: NodeJS.Timeout | undefined;
  try {
    const running = handler.run(lease.payload, new Context(lease, lazy, logger));
    if (timeout_seconds === undefined) return storable(await running);
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new DOMException(`the handler ran longer than ${timeout_seconds} s`, "TimeoutError");
        reject(error);
        abort(lazy, error);
      }, timeout_seconds * 1_000);
    });
    return storable(await Promise.race([running, timeout]));
  } catch (thrown) {
    return failed(thrown);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A class for its getters: on the prototype they cost nothing, in a literal a microsecond for each job. What they give
 * is made when it is first used, and most jobs use neither.
 */
class Context implements JobContext {
  readonly job: JobContext["job"];
  readonly #lazy: LazyAbort;
  readonly #parent: Logger;
  #logger: Logger | undefined;

  constructor({ id, type, queue, attempts, max_attempts, last_error }: Lease, lazy: LazyAbort, logger: Logger) {
    this.job = { id, type, queue, attempt: attempts, max_attempts, last_error };
    this.#lazy = lazy;
    this.#parent = logger;
  }
  get signal(): AbortSignal {
    return signalOf(this.#lazy);
  }
  get logger(): Logger {
    const { id, type, attempt } = this.job;
    return (this.#logger ??= this.#parent.child({ job_id: id, job_type: type, attempt }));
  }
}

function failed(thrown: unknown, name?: string): Outcome {
  const error = name && thrown instanceof Error ? storableText(`${name}: ${thrown.message}`) : errorText(thrown);
  const failure = { kind: "failed", error, error_data: errorData(thrown) } as const;
  if (thrown instanceof RetryAfterError) return { ...failure, retryable: true, delay_ms: thrown.delay_ms };
  return { ...failure, retryable: !(thrown instanceof DoNotRetryError) };
}

/** A result as it will be read back: what JSON makes of it. Nothing (undefined) is null. */
function storable(returned: unknown): Outcome {
  if (returned === undefined || returned === null) return { kind: "succeeded", result: null, bytes: 4 };
  let text: string | undefined;
  try {
    text = JSON.stringify(returned);
  } catch (thrown) {
    return failed(thrown, "ResultError");
  }
  if (text === undefined) return failed(new Error(`a ${typeof returned} cannot be stored`), "ResultError");
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.result_bytes_max)
    return failed(
      new Error(`the result is ${bytes} bytes, at most ${limits.result_bytes_max} are stored`),
      "ResultError",
    );
  const result = JSON.parse(text) as Json;
  const fault = findFaults(result)[0];
  if (fault) return failed(new Error(`the result at ${fault.pointer || "/"} ${fault.message}`), "ResultError");
  return { kind: "succeeded", result, bytes };
}
