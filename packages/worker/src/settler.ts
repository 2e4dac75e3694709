import {
  complete,
  fail,
  hint,
  isBadRow,
  isUnavailable,
  verdictAfterFailure,
  type BackoffPolicy,
  type Completion,
  type Failure,
  type FailOutcome,
} from "@atlasqueue/core";
import type { Outcome } from "./run-job.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";
import type { WorkerDeps } from "./start-worker.ts";
import { pause } from "./pause.ts";

const batch_max = 500;
const flushes_max = 2;
const retry_ms = 250;

type Settlement = { job: RunningJob; outcome: Outcome };

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
  const waiting: Settlement[] = [];
  const giveUp = new AbortController();
  let flushes = 0;
  let idle: (() => void)[] = [];

  const kick = () => {
    if (flushes >= flushes_max || waiting.length === 0) return;
    flushes += 1;
    // After this turn of the event loop: handlers that end in the same turn share the statement.
    setImmediate(() => {
      const batch = waiting.splice(0, batch_max);
      void flush(batch).finally(() => {
        flushes -= 1;
        kick();
        if (flushes === 0 && waiting.length === 0) for (const resolve of idle.splice(0)) resolve();
      });
    });
  };

  const flush = async (batch: Settlement[]): Promise<void> => {
    const held = batch.filter(({ job }) => running.holds(job));
    const completions = held.flatMap(({ job, outcome }) =>
      outcome.kind === "succeeded" ? [{ lease: job.lease, result: outcome.result }] : [],
    );
    const failures = held.flatMap(({ job, outcome }) => (outcome.kind === "failed" ? [failureOf(job, outcome)] : []));
    await Promise.all([
      inBatch(completions, (some) => complete(deps, some)),
      inBatch(failures, async (some) => afterFailures(some, await fail(deps, some))),
    ]);
    for (const { job } of held) running.remove(job);
  };

  const failureOf = ({ lease }: RunningJob, outcome: Extract<Outcome, { kind: "failed" }>): Failure => {
    const { attempts, max_attempts, backoff: own } = lease;
    const verdict = verdictAfterFailure(
      { attempts, max_attempts, backoff: own, retryable: outcome.retryable, delay_ms: outcome.delay_ms },
      backoff,
      Math.random(),
    );
    return { lease, error: outcome.error, verdict };
  };

  const afterFailures = async (failures: Failure[], outcomes: FailOutcome[]): Promise<void> => {
    const dead = failures.filter((_, at) => outcomes[at]?.kind === "dead").map(({ lease }) => lease.id);
    if (dead.length > 0) await hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
    const soonest = Math.min(
      ...failures.map(({ verdict }) => (verdict.kind === "retry" ? verdict.delay_ms : Infinity)),
    );
    if (soonest < Infinity) retrying(soonest);
  };

  /** One statement for all; when a row spoils it, one for each, so the neighbours are settled all the same. */
  const inBatch = async <T extends Completion | Failure>(
    items: T[],
    settle: (items: T[]) => Promise<unknown>,
  ): Promise<void> => {
    if (items.length === 0) return;
    for (;;) {
      try {
        await settle(items);
        return;
      } catch (error) {
        if (isUnavailable(error)) {
          deps.observe({ event: "database_unavailable", during: "settling", error: String(error) });
          if (giveUp.signal.aborted) return;
          await pause(retry_ms, giveUp.signal);
        } else if (items.length > 1) {
          await Promise.all(items.map((item) => inBatch([item], settle)));
          return;
        } else {
          await refused(items[0] as T, error);
          return;
        }
      }
    }
  };

  const refused = async (item: Completion | Failure, error: unknown): Promise<void> => {
    deps.logger.error({ err: error, job_id: item.lease.id }, "settlement_refused");
    if ("result" in item && isBadRow(error)) {
      const { attempts, max_attempts, backoff: own } = item.lease;
      const verdict = verdictAfterFailure(
        { attempts, max_attempts, backoff: own, retryable: true },
        backoff,
        Math.random(),
      );
      const failure = { lease: item.lease, error: "ResultError: the database refused the result", verdict };
      await inBatch([failure], async (some) => afterFailures(some, await fail(deps, some)));
    }
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
