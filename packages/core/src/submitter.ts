import { DatabaseTimeoutError, isLocked, isUnavailable } from "./database/errors.ts";
import { createCountFolder } from "./count-folder.ts";
import type { Deps } from "./deps.ts";
import { createPromoter } from "./promoter.ts";
import { announce } from "./signal/announce.ts";
import type { Signal } from "./signal/signal.ts";
import { enqueue, type EnqueueOptions, type EnqueueOutcome, type Submission } from "./transitions/enqueue.ts";

/** Rows and payload bytes of one INSERT at most. */
const batch_rows_max = 500;
const batch_bytes_max = 4 * 1_048_576;
/** INSERTs under way at once: while one waits for the disk, the next is made. */
const flights_max = 2;
/** Requests that wait at most; past it the database is not keeping up, and waiting would only end in a timeout. */
const waiting_max = 20_000;
const watch_ms = 100;

export type Submitter = {
  /**
   * Commit one job with its key; resolves when it is durable, rejects when the database is away or the deadline has
   * passed: the outcome is then unknown, and the same key may be sent again. `bytes` is about what the payload weighs.
   */
  submit(submission: Submission, bytes: number): Promise<EnqueueOutcome>;
  /** Commit several jobs in one transaction of their own: all of them or none. */
  submitTogether(submissions: readonly Submission[]): Promise<EnqueueOutcome[]>;
  /** Signal what `submitTogether` made. Not waited for: the jobs are durable. */
  follow(outcomes: readonly EnqueueOutcome[]): void;
  /** Resolves when all that was submitted has been answered and signalled. Nothing may be submitted after it. */
  close(): Promise<void>;
};

type Request = {
  submission: Submission;
  bytes: number;
  at: number;
  resolve(outcome: EnqueueOutcome): void;
  reject(error: unknown): void;
};

/**
 * Group commit: the jobs that come in while an INSERT is under way share the next one, and one push to each list.
 * With nothing under way a job goes at once, so an idle system waits for nobody. A row that PostgreSQL refuses, or a
 * key that another transaction holds, is the trouble of its own request: the others are sent again without it.
 *
 * @example
 * const submitter = createSubmitter({ database, signal, observe }, { idempotency_ttl_seconds: 86_400 });
 * const outcome = await submitter.submit({ tenant: "default", request, idempotency_key: "order-17" }, 200);
 */
export function createSubmitter(deps: Deps & { signal: Signal }, options: EnqueueOptions): Submitter {
  const waiting: Request[] = [];
  const flying = new Set<Request>();
  const promoter = createPromoter(deps);
  const folder = createCountFolder(deps);
  const announcing = new Set<Promise<unknown>>();
  let flights = 0;
  let watch: NodeJS.Timeout | undefined;
  let idle: (() => void)[] = [];

  const kick = () => {
    if (flights >= flights_max || waiting.length === 0) return;
    flights += 1;
    // Idle, after this task: calls made in a row share the INSERT. Busy, after this turn of the event loop, when more
    // have come in.
    (flights === 1 ? queueMicrotask : setImmediate)(() => {
      const batch = takeBatch(waiting);
      for (const one of batch) flying.add(one);
      void fly(batch).finally(() => {
        for (const one of batch) flying.delete(one);
        flights -= 1;
        kick();
        if (flights === 0 && waiting.length === 0) for (const resolve of idle.splice(0)) resolve();
      });
    });
  };

  const fly = async (batch: Request[]): Promise<void> => {
    if (batch.length === 0) return;
    try {
      const outcomes = await enqueue(
        deps,
        batch.map((one) => one.submission),
        options,
      );
      batch.forEach((one, at) => one.resolve(outcomes[at] as EnqueueOutcome));
      follow(outcomes);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      // One of their keys is held by somebody's open transaction: only its own request waits on.
      else if (isLocked(error)) await Promise.all(batch.map((one) => fly([one])));
      else if (isUnavailable(error)) for (const one of batch) one.reject(error);
      else for (const half of halves(batch)) await fly(half);
    }
  };

  const follow = (outcomes: readonly EnqueueOutcome[]) => {
    folder.touch();
    signalCreated(outcomes);
    promoteOnTime(outcomes);
  };

  // Not waited for: the jobs are durable, and the next INSERT need not stand behind Redis.
  const signalCreated = (outcomes: readonly EnqueueOutcome[]) => {
    const ready = outcomes.flatMap((one) => (one.kind === "created" && one.job.status === "queued" ? [one.job] : []));
    const announced = announce(deps, ready).finally(() => announcing.delete(announced));
    announcing.add(announced);
  };

  const promoteOnTime = (outcomes: readonly EnqueueOutcome[]) => {
    if (!deps.signal.heard) return;
    for (const one of outcomes)
      if (one.kind === "created" && one.job.status === "scheduled")
        promoter.expectIn(one.job.run_at.getTime() - one.job.created_at.getTime());
  };

  /** Nobody waits longer than the deadline, however many INSERTs before theirs hang. */
  const rejectLate = () => {
    const late = performance.now() - deps.database.timeout_ms;
    const isLate = (one: Request) => one.at <= late;
    for (const one of flying) if (isLate(one)) one.reject(new DatabaseTimeoutError(deps.database.timeout_ms));
    const first = waiting.findIndex((one) => !isLate(one));
    for (const one of waiting.splice(0, first === -1 ? waiting.length : first))
      one.reject(new DatabaseTimeoutError(deps.database.timeout_ms));
    if (waiting.length > 0 || flying.size > 0) return;
    clearInterval(watch);
    watch = undefined;
  };

  return {
    submit: (submission, bytes) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waiting_max) return reject(new DatabaseTimeoutError(deps.database.timeout_ms));
        waiting.push({ submission, bytes, at: performance.now(), resolve, reject });
        watch ??= setInterval(rejectLate, watch_ms);
        kick();
      }),
    submitTogether: (submissions) => enqueue(deps, submissions, options),
    follow,
    async close() {
      if (flights > 0 || waiting.length > 0) await new Promise<void>((resolve) => idle.push(resolve));
      await Promise.all(announcing);
      promoter.stop();
      folder.stop();
    },
  };
}

function takeBatch(waiting: Request[]): Request[] {
  let rows = 0;
  for (let bytes = 0; rows < waiting.length && rows < batch_rows_max; rows += 1) {
    bytes += waiting[rows]?.bytes ?? 0;
    if (rows > 0 && bytes > batch_bytes_max) break;
  }
  return waiting.splice(0, rows);
}

function halves<T>(items: T[]): [T[], T[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
