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
import { createBatcher, traceSettled, type Ending } from "@atlasqueue/runtime";
import { nextOf, type GoingOn, type Run } from "../consume/group-runs.ts";
import type { RunningJob, RunningJobs } from "../consume/running-jobs.ts";
import type { MovingDeps } from "../deps.ts";
import { addChildren, type Success } from "./add-children.ts";

/** An outcome on its way to the database. */
type Settlement = { job: RunningJob; outcome: Ending };

const flights_max = 2;
const batch_max = 500;
const batch_bytes_max = 4 * 1_048_576;
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
  const resting = new Set<Promise<void>>();

  const add = (one: Settlement): void => (bringsJobs(one) ? adding : plain).add(one);

  /** The job stays held: its lease is renewed like a running job's. */
  const tryLater = async (settlement: Settlement): Promise<void> => {
    const rest = pause(retry_ms, giveUp.signal);
    resting.add(rest);
    await rest;
    add(settlement);
    resting.delete(rest);
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
  const plain = createBatcher<Settlement>({
    items_max: batch_max,
    bytes_max: batch_bytes_max,
    bytesOf,
    flights_max,
    flush,
  });
  const adding = createBatcher<Settlement>({ items_max: 1, flights_max, flush });
  const isBusy = () => plain.isBusy() || adding.isBusy() || resting.size > 0;

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
    const attempts = () => items.map(({ job: { lease, span } }) => ({ job: lease, span }));
    return deps.tracing?.on() ? traceSettled(deps.tracing, name, attempts(), settle) : settle();
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
      while (isBusy()) await Promise.all([plain.idle(), adding.idle(), ...resting]);
      await deps.followUps.idle();
    },
    /** Stop waiting for a database that is away. */
    giveUp: () => giveUp.abort(),
  };
}
function bytesOf({ outcome }: Settlement): number {
  let bytes = outcome.kind === "succeeded" ? outcome.bytes : 0;
  for (const { line } of outcome.log ?? []) bytes += line.length;
  return bytes;
}

export type Settler = ReturnType<typeof createSettler>;
