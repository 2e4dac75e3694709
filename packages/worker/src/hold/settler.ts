import { DatabaseTimeoutError, isUnavailable, type BackoffPolicy } from "@atlasqueue/core";
import {
  completeAndTakeNext,
  fail,
  isBadRow,
  pause,
  verdictAfterFailure,
  type Failure,
  type Lease,
  type Settled,
} from "@atlasqueue/core/internal";
import type { Ending } from "../run/outcome.ts";
import { nextOf, type GoingOn, type Run } from "../consume/group-runs.ts";
import type { RunningJob, RunningJobs } from "../consume/running-jobs.ts";
import type { MovingDeps } from "../deps.ts";
import { createOutcomeQueue, type Settlement } from "./outcome-queue.ts";
import { addChildren, type Success } from "./add-children.ts";
import { traceSettled } from "../tracing/batches.ts";

const retry_ms = 250;

const bringsJobs = ({ outcome }: Settlement) => outcome.kind === "succeeded" && outcome.spawned !== undefined;

type Fault = { job: RunningJob } & Omit<Extract<Ending, { kind: "failed" }>, "kind">;

/**
 * Writes outcomes to the database, those that are ready together in one statement, and those that bring jobs with them
 * each in a transaction of its own. While the database is away, or another transaction has a job locked, its outcome is
 * kept, and no attempt is counted.
 */
export function createSettler(deps: MovingDeps, running: RunningJobs, backoff: BackoffPolicy, goingOn: GoingOn) {
  const giveUp = new AbortController();
  /** Of the flushes under way, those whose rows another transaction has locked. */
  const locked = new Set<RunningJob>();
  /** Outcomes of such jobs, resting until their next try. */
  let resting = 0;
  let idle: (() => void)[] = [];

  const tellIdle = (): void => {
    if (!isBusy()) for (const resolve of idle.splice(0)) resolve();
  };
  const add = (one: Settlement): void => (bringsJobs(one) ? adding : plain).add(one);

  /** The job stays held: its lease is renewed like a running job's. */
  const tryLater = async (settlement: Settlement): Promise<void> => {
    resting += 1;
    await pause(retry_ms, giveUp.signal);
    resting -= 1;
    add(settlement);
  };

  const flush = async (batch: Settlement[]): Promise<void> => {
    const successes: Success[] = [];
    const faults: Fault[] = [];
    for (const { job, outcome } of batch) {
      if (!running.holds(job)) continue;
      if (outcome.kind === "succeeded") successes.push({ job, ...outcome });
      else faults.push({ job, ...outcome });
    }
    await Promise.all([inBatch(successes, successes[0]?.spawned ? succeedAdding : succeed), inBatch(faults, failAll)]);
    for (const settlement of batch)
      if (locked.delete(settlement.job) && !giveUp.signal.aborted) void tryLater(settlement);
      // Those that could not be settled: their leases run out, and the sweep finds them.
      else running.leave(settlement.job);
  };
  const plain = createOutcomeQueue(flush, tellIdle);
  const adding = createOutcomeQueue(flush, tellIdle, 1);
  const isBusy = () => plain.isBusy() || adding.isBusy() || resting > 0;

  const succeed = async (successes: Success[]): Promise<void> => {
    const completions = successes.map(({ job, result, log }) => ({ lease: job.lease, result, log }));
    const after = goingOn.stop.aborted ? [] : successes.flatMap(({ job }) => (job.goes_on ? [job.lease.id] : []));
    const asked_at = performance.now();
    const { outcomes, next } = await traced("ack", successes, () =>
      completeAndTakeNext(deps, completions, { ...goingOn.claimer, after }),
    );
    const settled: Settled[] = [];
    const started = new Map<Lease, Run>();
    for (const [at, { job }] of successes.entries()) {
      const outcome = outcomes[at];
      ended(job, outcome?.kind);
      const one = next.get(job.lease);
      if (one) started.set(one, nextOf(job.run));
      if (outcome?.kind !== "applied") continue;
      const { has_children, ready } = outcome;
      settled.push({ job: job.lease, became: "succeeded", ran_ms: job.ran_ms, has_children, ready });
    }
    // In this turn, before anything else finds the slots free.
    if (started.size > 0) goingOn.start(started, asked_at);
    follow(settled);
  };

  /** running → succeeded with the jobs it adds, or failed when they cannot be added. */
  const succeedAdding = async ([success]: Success[]): Promise<void> => {
    if (!success) return;
    const { job } = success;
    const outcome = await traced("ack", [success], () => addChildren(deps, success));
    if (outcome.kind === "unfit")
      return await inBatch([{ job, error: outcome.error, retryable: true, log: success.log }], failAll);
    ended(job, outcome.kind);
    if (outcome.kind !== "applied") return;
    const { has_children, ready } = outcome;
    deps.followUps.submitted(outcome.children);
    follow([{ job: job.lease, became: "succeeded", ran_ms: job.ran_ms, has_children, ready }]);
  };

  const failAll = async (faults: Fault[]): Promise<void> => {
    const failures = faults.map(failureOf);
    const outcomes = await traced("nack", faults, () => fail(deps, failures));
    for (const [at, { job }] of faults.entries()) ended(job, outcomes[at]?.kind);
    follow(
      failures.flatMap(({ lease, verdict }, at): Settled[] => {
        const outcome = outcomes[at];
        const ran_ms = faults[at]?.job.ran_ms;
        if (outcome?.kind === "dead") {
          const { has_children, ready } = outcome;
          return [{ job: lease, became: "dead", ran_ms, has_children, ready }];
        }
        if (outcome?.kind !== "retrying" || verdict.kind !== "retry") return [];
        return [{ job: lease, became: { due_in_ms: verdict.delay_ms }, ran_ms }];
      }),
    );
  };

  const traced = <T>(name: "ack" | "nack", items: (Success | Fault)[], settle: () => Promise<T>): Promise<T> => {
    const { tracing } = deps;
    return tracing
      ? traceSettled(
          tracing,
          name,
          items.map(({ job }) => job),
          settle,
        )
      : settle();
  };

  const ended = (job: RunningJob, outcome: string | undefined): void => {
    if (outcome === "locked") {
      running.endRun(job);
      locked.add(job);
    } else running.settled(job);
  };

  /** Not waited for: the slots are free again. */
  const follow = (settled: Settled[]): void => {
    if (settled.length > 0) void deps.followUps.settled(settled);
  };

  const failureOf = ({ job: { lease }, error, error_data, retryable, delay_ms, log }: Fault): Failure => {
    const { attempts, max_attempts, backoff: own } = lease;
    const attempt = { attempts, max_attempts, backoff: own, retryable, delay_ms };
    return { lease, error, error_data, log, verdict: verdictAfterFailure(attempt, backoff, Math.random()) };
  };

  /** One statement for all; when one row spoils it, one for each, so that the neighbours are still settled. */
  const inBatch = async <T extends Success | Fault>(
    items: T[],
    settle: (items: T[]) => Promise<void>,
  ): Promise<void> => {
    if (items.length === 0) return;
    while (!giveUp.signal.aborted) {
      try {
        return await settle(items);
      } catch (error) {
        if (error instanceof DatabaseTimeoutError && items.length > 1) {
          // Perhaps too much for one statement: each half has the same deadline.
          const middle = items.length >> 1;
          await inBatch(items.slice(0, middle), settle);
          return await inBatch(items.slice(middle), settle);
        }
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
    if (!isBadRow(error)) return;
    const [refusal, retryable] = "result" in item ? ["the result", true] : ["the failure", item.retryable];
    const safe = { job: item.job, error: `Refused: the database could not store ${refusal}`, retryable };
    try {
      await failAll([safe]);
    } catch (again) {
      deps.logger.error({ err: again, job_id: item.job.lease.id }, "settlement_refused");
    }
  };

  return {
    settle: (job: RunningJob, outcome: Ending): void => add({ job, outcome }),
    /** Resolves when everything given so far has been settled, and followed up. */
    async drained(): Promise<void> {
      if (isBusy()) await new Promise<void>((resolve) => idle.push(resolve));
      await deps.followUps.idle();
    },
    /** Stop waiting for a database that is away. */
    giveUp: () => giveUp.abort(),
  };
}
export type Settler = ReturnType<typeof createSettler>;
