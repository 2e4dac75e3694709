import { ParkedError, type Tracing } from "@atlasqueue/contract";
import type { Ending } from "../attempt/outcome.ts";
import { beginAttempt, endAttempt, traceReceived } from "../attempt/traces.ts";
import { soon, until } from "../waiting/pause.ts";
import { shouldGoOn } from "./group-run.ts";
import type { Held, HeldJobs } from "./held-jobs.ts";
import { keepLeases, type Extender } from "./lease-keeper.ts";

/** Where the jobs of a worker come from and where their outcomes go, over SQL or HTTP. None of these rejects. */
export type JobSource<Job> = Extender<Job> & {
  /** Leases what is ready for the free slots, and starts it. Resolves when it is to be called again, and soon after a drain began. */
  take(): Promise<void>;
  /** No more is to be taken. Resolves when no lease is on its way. */
  stopTaking(): Promise<void>;
  settle(job: Job, ending: Ending): void;
  /**
   * Gives jobs back with no attempt counted; resolves with how many went back. `later`: there is no handler here, and another
   * worker may have one.
   */
  release(jobs: readonly Job[], why: string, later?: boolean): Promise<number>;
  /** Resolves when everything given so far is settled. */
  drained(): Promise<void>;
  /** Gives up what is not settled yet. */
  close(): void;
};

/** `not_started`: no handler has seen it, and it goes back. */
export type Outcome = Ending | { kind: "not_started"; error: string };

/** How the jobs of a worker are handled. */
export type Attempts<Job> = {
  /** No handler here takes it, and another worker may have one. */
  isUnknown(job: Job): boolean;
  /** Runs its handler. Never rejects. */
  run(job: Job): Promise<Outcome>;
  /** Whether the next of its group may take its slot, for as many jobs as `run_jobs_max`. */
  mayGoOn(job: Job): boolean;
  run_jobs_max: number;
  hear(event: "handler_start" | "job_type_unknown", job: Job): void;
  /** Its handler has ended. */
  ended(job: Job, outcome: Outcome): void;
};

/** Each aborts in its turn as a worker stops. */
export const newStages = () => ({
  /** Nothing more is leased, and nothing is started. */
  draining: new AbortController(),
  /** The deadline: handlers are aborted. */
  late: new AbortController(),
  /** Nothing is held any more. */
  stopped: new AbortController(),
});
export type Stages = ReturnType<typeof newStages>;

type Parts<Job extends Held> = {
  held: Omit<HeldJobs<Job>, "add">;
  source: JobSource<Job>;
  attempts: Attempts<Job>;
  lease_ms: number;
  stages: Stages;
  tracing: Tracing | undefined;
};

/** After starting handlers this long without a turn of the event loop, renewals and responses have theirs. */
const turn_ms_max = 20;
/** How long the last requests may take, after the deadline of a stop. */
const farewell_ms_max = 5_000;
const stops = "the worker stops";

/**
 * Runs the jobs of a source: leases them for the free slots, runs their handlers, renews the leases and settles the
 * outcomes, until it is stopped.
 */
export function createRunLoop<Job extends Held>({ held, source, attempts, lease_ms, stages, tracing }: Parts<Job>) {
  const { draining, late, stopped } = stages;
  const keeper = keepLeases(held, source, { lease_ms, stop: stopped.signal });
  const isOurs = (job: Job): boolean => job.phase === "handling";
  const leftMs = (job: Job): number => job.ends_at_ms - performance.now();

  /** Another worker may have a job that is started late. If its lease cannot be renewed, it goes back. */
  const renewLate = async (job: Job): Promise<boolean> => {
    const until_ms = performance.now() + Math.max(leftMs(job), lease_ms / 2);
    const { renewals } = job;
    job.renew_at_ms = 0;
    keeper.wake();
    while (isOurs(job) && job.renewals === renewals && performance.now() < until_ms)
      await until(held.change(), until_ms - performance.now());
    const isRenewed = job.renewals > renewals && leftMs(job) > 0;
    if (isOurs(job) && !isRenewed) void source.release([job], "the lease could not be renewed");
    return isOurs(job);
  };

  const attempt = async (job: Job): Promise<void> => {
    job.began_at_ms = performance.now();
    const span = (job.span = beginAttempt(tracing, job.traced));
    attempts.hear("handler_start", job);
    const outcome = await (span ? span.active(() => attempts.run(job)) : attempts.run(job));
    // Whatever the handler made of it.
    if (job.abort.reason instanceof ParkedError) return span?.end();
    if (span) endAttempt(span, outcome);
    attempts.ended(job, outcome);
    if (!isOurs(job)) return;
    if (outcome.kind === "not_started") return void source.release([job], outcome.error);
    held.handlerEnded(job, attempts.mayGoOn(job) && shouldGoOn(job.run, outcome, attempts.run_jobs_max));
    source.settle(job, outcome);
  };

  const startOne = async (job: Job): Promise<void> => {
    if (leftMs(job) < lease_ms / 2 && !(await renewLate(job))) return;
    if (draining.signal.aborted) void source.release([job], stops);
    else await attempt(job);
  };

  /**
   * Start jobs that were added to the held ones, and leased by a request sent at `asked_at_ms`. Much time may have passed, as
   * an earlier handler may have the processor: a job with less than half of its lease left is renewed first.
   */
  const start = async (jobs: readonly Job[], asked_at_ms: number): Promise<void> => {
    if (tracing?.on())
      traceReceived(
        tracing,
        jobs.map(({ traced }) => traced),
        Date.now() - (performance.now() - asked_at_ms),
      );
    const unknown = jobs.filter(attempts.isUnknown);
    for (const job of unknown) attempts.hear("job_type_unknown", job);
    if (unknown.length > 0) void source.release(unknown, "no handler", true);
    let turned_at = performance.now();
    for (const job of jobs) {
      if (performance.now() - turned_at > turn_ms_max) {
        await new Promise<void>(soon);
        turned_at = performance.now();
      }
      if (isOurs(job)) void startOne(job);
    }
  };

  const take = async (): Promise<void> => {
    while (!draining.signal.aborted) await source.take();
    await source.stopTaking();
  };
  const taking = take();
  const done = async (): Promise<void> => {
    await taking;
    while (held.handling() > 0 && !late.signal.aborted) await held.change();
    await source.drained();
  };

  return {
    start,
    /** A lease is due earlier than it was. */
    wake: keeper.wake,
    /**
     * Lets the running handlers finish until the deadline, then aborts them and gives their jobs back. Resolves with how many
     * went back, and until when all else should end. `ended` resolves when nothing is under way.
     */
    async stop(deadline_ms: number) {
      const due_at_ms = performance.now() + Math.max(0, deadline_ms);
      draining.abort();
      held.tell();
      await until(done(), due_at_ms - performance.now());
      late.abort();
      held.tell();
      // A process that stood still gets here long after its deadline.
      const last_ms = Math.max(due_at_ms, performance.now()) + farewell_ms_max;
      const farewell = <T>(work: Promise<T>) => until(work, last_ms - performance.now());
      const released = await farewell(source.release(held.all().filter(isOurs), stops));
      await farewell(source.drained());
      source.close();
      for (const job of held.all()) held.leave(job);
      stopped.abort();
      return { released: released ?? 0, last_ms };
    },
    ended: Promise.all([taking, keeper.kept]),
  };
}
