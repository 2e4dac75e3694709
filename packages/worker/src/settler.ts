import {
  complete,
  fail,
  hint,
  isBadRow,
  isUnavailable,
  verdictAfterFailure,
  type BackoffPolicy,
  type Failure,
} from "@atlasqueue/core";
import type { Json } from "@atlasqueue/contract";
import { pause } from "./pause.ts";
import type { Outcome } from "./run-job.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";
import type { WorkerDeps } from "./start-worker.ts";

const batch_max = 500;
const flushes_max = 2;
const retry_ms = 250;

type Success = { job: RunningJob; result: Json };
type Fault = { job: RunningJob; error: string; retryable: boolean; delay_ms?: number | undefined };

/**
 * Brings outcomes to the database, those that are ready together in one statement. Idle, an outcome goes at once;
 * busy, what arrives while a flush is under way makes the next one. A database that is away is waited for: the
 * outcome is kept, and no attempt is spent. `retrying` hears in how many milliseconds a failed job is due again.
 */
export function createSettler(
  deps: WorkerDeps,
  running: RunningJobs,
  backoff: BackoffPolicy,
  retrying: (delay_ms: number) => void,
) {
  const waiting: { job: RunningJob; outcome: Outcome }[] = [];
  const giveUp = new AbortController();
  let flushes = 0;
  let idle: (() => void)[] = [];

  const kick = () => {
    if (flushes >= flushes_max || waiting.length === 0) return;
    flushes += 1;
    // After this turn of the event loop: handlers that end in the same turn share the statement.
    setImmediate(() => {
      void flush(waiting.splice(0, batch_max)).finally(() => {
        flushes -= 1;
        kick();
        if (flushes > 0 || waiting.length > 0) return;
        for (const resolve of idle.splice(0)) resolve();
      });
    });
  };

  const flush = async (batch: { job: RunningJob; outcome: Outcome }[]): Promise<void> => {
    const successes: Success[] = [];
    const faults: Fault[] = [];
    for (const { job, outcome } of batch) {
      if (!running.holds(job)) continue;
      if (outcome.kind === "succeeded") successes.push({ job, result: outcome.result });
      else faults.push({ job, ...outcome });
    }
    await Promise.all([inBatch(successes, succeed), inBatch(faults, failAll)]);
    // Those that could not be settled: their leases run out, and the sweep finds them.
    for (const { job } of batch) running.leave(job);
  };

  const succeed = async (successes: Success[]): Promise<void> => {
    await complete(
      deps,
      successes.map(({ job, result }) => ({ lease: job.lease, result })),
    );
    for (const { job } of successes) running.settled(job);
  };

  const failAll = async (faults: Fault[]): Promise<void> => {
    const failures = faults.map(failureOf);
    const outcomes = await fail(deps, failures);
    for (const { job } of faults) running.settled(job);
    const dead = failures.filter((_, at) => outcomes[at]?.kind === "dead").map(({ lease }) => lease.id);
    if (dead.length > 0) await hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
    const soonest = Math.min(
      ...failures.map(({ verdict }) => (verdict.kind === "retry" ? verdict.delay_ms : Infinity)),
    );
    if (soonest < Infinity) retrying(soonest);
  };

  const failureOf = ({ job: { lease }, error, retryable, delay_ms }: Fault): Failure => {
    const { attempts, max_attempts, backoff: own } = lease;
    const attempt = { attempts, max_attempts, backoff: own, retryable, delay_ms };
    return { lease, error, verdict: verdictAfterFailure(attempt, backoff, Math.random()) };
  };

  /** One statement for all; when a row spoils it, one for each, so the neighbours are settled all the same. */
  const inBatch = async <T extends Success | Fault>(
    items: T[],
    settle: (items: T[]) => Promise<void>,
  ): Promise<void> => {
    if (items.length === 0) return;
    while (!giveUp.signal.aborted) {
      try {
        return await settle(items);
      } catch (error) {
        if (isUnavailable(error)) {
          deps.observe({ event: "database_unavailable", during: "settling", error: String(error) });
          await pause(retry_ms, giveUp.signal);
        } else if (items.length > 1) {
          await Promise.all(items.map((item) => inBatch([item], settle)));
          return;
        } else {
          return refused(items[0] as T, error);
        }
      }
    }
  };

  const refused = async (item: Success | Fault, error: unknown): Promise<void> => {
    deps.logger.error({ err: error, job_id: item.job.lease.id }, "settlement_refused");
    if (!("result" in item) || !isBadRow(error)) return;
    await inBatch([{ job: item.job, error: "ResultError: the database refused the result", retryable: true }], failAll);
  };

  return {
    settle(job: RunningJob, outcome: Outcome): void {
      waiting.push({ job, outcome });
      kick();
    },
    /** Resolves when everything given so far has been settled. */
    drained: () =>
      flushes === 0 && waiting.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => idle.push(resolve)),
    /** Stop waiting for a database that is away. */
    giveUp: () => giveUp.abort(),
  };
}
export type Settler = ReturnType<typeof createSettler>;
