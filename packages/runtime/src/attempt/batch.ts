import { showValue } from "@atlasqueue/contract";
import { requireInteger } from "../run/slots.ts";

export type BatchOptions = {
  /** Jobs of one call at most, 1 to 1,000: no more than the worker has slots. */
  size: number;
  /** How long the first job of a call waits for others, in milliseconds, 0 to 60,000. It counts towards a timeout. */
  waitMs: number;
};

/** One job of a call. Its `context` is its own, as is its lease. */
export type BatchJob<Payload, Context> = { id: string; payload: Payload; context: Omit<Context, "waitFor"> };

/** In the order of the jobs, or by their ids. An Error fails its job alone. */
export type BatchResults = readonly unknown[] | ReadonlyMap<string, unknown>;

/** `signal` aborts when the signals of all its jobs have. Throwing fails all of them. */
export type BatchFunction<Payload, Context> = (
  jobs: readonly BatchJob<Payload, Context>[],
  context: { signal: AbortSignal },
) => Promise<BatchResults> | BatchResults;

type Own = { job: { id: string }; signal: AbortSignal };
type Collected<Payload, Context> = BatchJob<Payload, Context> & {
  result: PromiseWithResolvers<unknown>;
  signal: AbortSignal;
};

/**
 * Makes the function of one job out of a function of many: jobs that are handled at the same time share a call, and each gets
 * its own result. One whose signal aborts before the call is left out. Throws a RangeError for options out of range.
 *
 * @example
 * const run = batched("mail.send", { size: 100, waitMs: 50 }, async (jobs) => sendAll(jobs));
 */
export function batched<Payload, Context extends Own>(
  type: string,
  { size, waitMs }: BatchOptions,
  run: BatchFunction<Payload, Context>,
): (payload: Payload, context: Context) => Promise<unknown> {
  requireInteger(`size of ${type}`, size, 1, 1_000);
  requireInteger(`waitMs of ${type}`, waitMs, 0, 60_000);
  let waiting: Collected<Payload, Context>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const call = async (batch: typeof waiting): Promise<void> => {
    try {
      const jobs = batch.map(({ id, payload, context }) => ({ id, payload, context }));
      const results = await run(jobs, { signal: endOfAll(batch) });
      const found = batch.map(resultsOf(type, results, batch.length));
      for (const [at, { result }] of batch.entries())
        if (found[at] instanceof Error) result.reject(found[at]);
        else result.resolve(found[at]);
    } catch (error) {
      for (const { result } of batch) result.reject(error);
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) void call(batch);
  };
  return (payload, context) => {
    const { job, signal } = context;
    const one = { id: job.id, payload, context, signal, result: Promise.withResolvers<unknown>() };
    const leave = (): void => {
      waiting = waiting.filter((other) => other !== one);
      // Of no effect once a call has it, and the worker no longer counts what comes of it.
      one.result.reject(signal.reason);
    };
    waiting.push(one);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    if (waiting.length >= size) flush();
    else timer ??= setTimeout(flush, waitMs);
    return one.result.promise;
  };
}

function endOfAll(batch: readonly { signal: AbortSignal }[]): AbortSignal {
  const all = new AbortController();
  let left = batch.length;
  for (const { signal } of batch)
    signal.addEventListener("abort", () => (left -= 1) === 0 && all.abort(signal.reason), { once: true });
  return all.signal;
}

/** The result of each job of a call. Throws a TypeError if these are not the results of so many. */
function resultsOf(type: string, results: BatchResults, jobs: number): (one: { id: string }, at: number) => unknown {
  const fault = (what: string) => new TypeError(`the batch handler of ${type} returned ${what}`);
  if (results instanceof Map)
    return ({ id }) => (results.has(id) ? results.get(id) : fault(`no result for the job ${id}`));
  if (!Array.isArray(results))
    throw fault(`${showValue(results)}: it must return an array or a Map, with a result per job`);
  if (results.length !== jobs) throw fault(`${results.length} results for ${jobs} jobs`);
  return (_one, at) => results[at] as unknown;
}
