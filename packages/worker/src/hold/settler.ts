import { DatabaseTimeoutError, isUnavailable, type BackoffPolicy } from "@atlasqueue/core";
import {
  completeAndLeaseNext,
  fail,
  isBadRow,
  verdictAfterFailure,
  type Failure,
  type Lease,
  type Settled,
  type LeaseNext,
  type SweepDeps,
} from "@atlasqueue/core/internal/worker";
import {
  createSettler as createOutcomeSettler,
  nextOf,
  traceSettled,
  type Ending,
  type Run,
} from "@atlasqueue/runtime";
import type { RunningJob, RunningJobs } from "../consume/running-jobs.ts";
import { addChildren } from "./add-children.ts";

/** An outcome on its way to the database. */
type Settlement<E extends Ending = Ending> = { job: RunningJob; outcome: E };
type Success = Settlement<Extract<Ending, { kind: "succeeded" }>>;
type Fault = Settlement<Extract<Ending, { kind: "failed" }>>;

/** How a worker goes on with the groups of its jobs. */
type GoingOn = {
  claimer: Omit<LeaseNext, "after">;
  /** From then on it takes no jobs. */
  stop: AbortSignal;
  /** Start what was taken by a settlement sent at `asked_at`, in the same turn. */
  start(next: ReadonlyMap<Lease, Run>, asked_at: number): void;
};

const flights_max = 2;
const batch_max = 500;
const batch_bytes_max = 4 * 1_048_576;

const bringsJobs = ({ outcome }: Settlement) => outcome.kind === "succeeded" && outcome.spawned !== undefined;

/**
 * Writes outcomes to the database, those that are ready together in one statement, and those that bring jobs with them
 * each in a transaction of its own. While the database is away, or another transaction has a job locked, its outcome is
 * kept, and no attempt is counted.
 */
export function createSettler(deps: SweepDeps, running: RunningJobs, backoff: BackoffPolicy, goingOn: GoingOn) {
  /** Stored in place of an outcome that the database refused. */
  const safe = new WeakSet<Ending>();

  const succeed = async (successes: readonly Success[]): Promise<Settlement[]> => {
    const completions = successes.map(({ job: { lease }, outcome: { result, log } }) => ({ lease, result, log }));
    const after = goingOn.stop.aborted ? [] : successes.flatMap(({ job }) => (job.goes_on ? [job.lease.id] : []));
    const asked_at = performance.now();
    const { outcomes, next } = await traceSettled(deps.tracing, "ack", successes, () =>
      completeAndLeaseNext(deps, completions, { ...goingOn.claimer, after }),
    );
    const settled: Settled[] = [];
    const started = new Map<Lease, Run>();
    const locked = successes.filter((success, at) => {
      const { job } = success;
      const outcome = outcomes[at];
      const one = next.get(job.lease);
      if (one) started.set(one, nextOf(job.run));
      if (outcome?.kind === "applied") {
        const { has_children, ready } = outcome;
        settled.push({ job: job.lease, became: "succeeded", ran_ms: job.ran_ms, has_children, ready });
      }
      return isLocked(job, outcome?.kind);
    });
    // In this turn, before anything else finds the slots free.
    if (started.size > 0) goingOn.start(started, asked_at);
    follow(settled);
    return locked;
  };

  /** running → succeeded with the jobs it adds, or failed when they cannot be added. */
  const succeedAdding = async (success: Success): Promise<Settlement[]> => {
    const { job, outcome: ending } = success;
    const outcome = await traceSettled(deps.tracing, "ack", [success], () => addChildren(deps, { job, ...ending }));
    if (outcome.kind === "unfit") {
      plain.settle({ job, outcome: { kind: "failed", error: outcome.error, retryable: true, log: ending.log } });
      return [];
    }
    if (isLocked(job, outcome.kind)) return [success];
    if (outcome.kind !== "applied") return [];
    const { has_children, ready } = outcome;
    deps.followUps.submitted(outcome.children);
    follow([{ job: job.lease, became: "succeeded", ran_ms: job.ran_ms, has_children, ready }]);
    return [];
  };

  const failAll = async (faults: readonly Fault[]): Promise<Settlement[]> => {
    const failures = faults.map(failureOf);
    const outcomes = await traceSettled(deps.tracing, "nack", faults, () => fail(deps, failures));
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
    return faults.filter(({ job }, at) => isLocked(job, outcomes[at]?.kind));
  };

  /** The job stays held then: its lease is renewed like a running job's. */
  const isLocked = (job: RunningJob, outcome: string | undefined): boolean => {
    if (outcome === "locked") running.endRun(job);
    else running.settled(job);
    return outcome === "locked";
  };

  /** Not waited for: the slots are free again. */
  const follow = (settled: Settled[]): void => {
    if (settled.length > 0) void deps.followUps.settled(settled);
  };

  const failureOf = ({ job: { lease }, outcome }: Fault): Failure => {
    const { error, error_data, retryable, delay_ms, log } = outcome;
    const { attempts, max_attempts, backoff: own } = lease;
    const attempt = { attempts, max_attempts, backoff: own, retryable, delay_ms };
    return { lease, error, error_data, log, verdict: verdictAfterFailure(attempt, backoff, Math.random()) };
  };

  const judge = (error: unknown, batch: readonly Settlement[]): "again" | "refused" => {
    // Perhaps too much for one statement: each half has the same deadline.
    if (error instanceof DatabaseTimeoutError && batch.length > 1) return "refused";
    if (!isUnavailable(error)) return "refused";
    deps.observe({ event: "database_unavailable", during: "settling", error: String(error) });
    return "again";
  };

  /** Without one, its lease runs out, and the sweep finds it. */
  const instead = ({ job, outcome }: Settlement, error: unknown): Settlement | undefined => {
    deps.logger.error({ err: error, job_id: job.lease.id }, "settlement_refused");
    if (!isBadRow(error) || safe.has(outcome)) {
      running.leave(job);
      return undefined;
    }
    const [refusal, retryable] =
      outcome.kind === "succeeded" ? ["the result", true] : ["the failure", outcome.retryable];
    const ending: Ending = {
      kind: "failed",
      error: `Refused: the database could not store ${refusal}`,
      retryable,
    };
    safe.add(ending);
    return { job, outcome: ending };
  };

  const send = (batch: Settlement[]): Promise<Settlement[]> => {
    // All are of one kind: see `fits`.
    const [first] = batch as [Settlement];
    if (first.outcome.kind === "failed") return failAll(batch as Fault[]);
    return bringsJobs(first) ? succeedAdding(first as Success) : succeed(batch as Success[]);
  };
  const store = { isHeld: ({ job }: Settlement) => running.holds(job), send, judge, instead, flights_max };
  const plain = createOutcomeSettler<Settlement>({
    ...store,
    items_max: batch_max,
    bytes_max: batch_bytes_max,
    bytesOf,
    fits: (first, one) => first.outcome.kind === one.outcome.kind,
  });
  const adding = createOutcomeSettler<Settlement>({ ...store, items_max: 1 });

  return {
    settle: (job: RunningJob, outcome: Ending): void =>
      (bringsJobs({ job, outcome }) ? adding : plain).settle({ job, outcome }),
    /** Resolves when everything given so far has been settled, and followed up. */
    async drained(): Promise<void> {
      await adding.drained();
      await plain.drained();
      await deps.followUps.idle();
    },
    /** Stop waiting for a database that is down. */
    close(): void {
      adding.close();
      plain.close();
    },
  };
}

function bytesOf({ outcome }: Settlement): number {
  let bytes = outcome.kind === "succeeded" ? outcome.bytes : 0;
  for (const { line } of outcome.log ?? []) bytes += line.length;
  return bytes;
}
