import { createClaimCleaner } from "./lease/forget-claims.ts";
import { isUnavailable } from "./database/errors.ts";
import type { Deps, QueueRef } from "./deps.ts";
import { createPromoter } from "./maintenance/promote.ts";
import { deadAmong } from "./dead-letters/rebuild-list.ts";
import { createDrainer } from "./outbox/drainer.ts";
import { outboxHandlers } from "./outbox/handlers.ts";
import { createRollups } from "./rollups/flush.ts";
import { offerIfMarked, offerMark, pushMark, createWaker } from "./limits/marks.ts";
import type { CancelledJob } from "./jobs/cancel.ts";
import { announce, hint } from "./signal/announce.ts";
import type { ReadyJob, Signal } from "./signal/signal.ts";
import type { Admitted } from "./submit/pending/admit.ts";
import type { LimitsSet } from "./limits/set.ts";
import { delaysAmong, readyAmong, type EnqueueOutcome } from "./submit/outcome.ts";

/** A job whose attempt has ended, and what became of it. */
export type Settled = {
  job: QueueRef & {
    id: string;
    type: string;
    group_key: string | null;
    /** From when it might have run to when it was claimed. */
    waited_seconds?: number | undefined;
    /** Its queue has, or may have, limits: another job may start. */
    limited?: boolean | undefined;
  };
  became: "succeeded" | "dead" | { due_in_ms: number };
  /** How long it ran, if that is known. */
  ran_ms?: number | undefined;
  /** It ended before, and only the answer is repeated. */
  repeated?: boolean;
  /** The next jobs of its group. */
  ready?: readonly ReadyJob[] | undefined;
  /** Other jobs wait for it. */
  has_children?: boolean | null | undefined;
  /** The claim it was under, if only the follow-ups clear it away. */
  claim?: string | undefined;
};

/** Each is called after a move was committed, and none of them rejects. */
export type FollowUps = {
  /** Jobs came in. Nothing has to wait for this: they are durable. */
  submitted(outcomes: readonly EnqueueOutcome[]): void;
  /** Pending jobs were admitted, or ended. Resolves when they have been signalled. */
  admitted(admitted: Admitted): Promise<void>;
  /** Attempts ended, one way or another. Resolves when Redis has been brought up to date. */
  settled(settled: readonly Settled[]): Promise<void>;
  /** Attempts ended with their leases; the jobs are queued again, and signalled already. */
  requeued(jobs: readonly (QueueRef & { type: string })[]): void;
  /** `ready` are the next jobs of their groups. */
  cancelled(jobs: readonly CancelledJob[], ready: readonly ReadyJob[]): Promise<void>;
  /** A job waits for a signal until then, and is held no more. Nothing has to wait for this. */
  parked(job: QueueRef & Pick<Settled["job"], "limited">, until: Date, claim?: string): void;
  /** A job got the signal that it waited for, and is ready. */
  woken(job: ReadyJob): Promise<void>;
  /**
   * Stopped jobs start over: `ready` are those to be signalled, `were_dead` the ids of those that were dead letters.
   */
  retried(jobs: { ready: readonly ReadyJob[]; were_dead: readonly string[] }): Promise<void>;
  /** Dead letters were replayed or purged: they leave the list in Redis. */
  noLongerDead(ids: readonly string[]): Promise<void>;
  /** There may be rows in the outbox. Resolves when none is left that can be acted on now. */
  drain(): Promise<void>;
  /** A queue may have more room, or less. Nothing has to wait for this. */
  limitsChanged(queue: QueueRef, changed: LimitsSet): void;
  /** Jobs of a queue could not be claimed because of its rate; after `retry_in_ms` there is room again. */
  throttled(queue: QueueRef, retry_in_ms: number): void;
  /** Resolves when nothing is under way. Timers may still be set. */
  idle(): Promise<void>;
  /** Ends the timers, after what is under way: another process's sweep does the rest. */
  stop(): Promise<void>;
};

/**
 * The one place for what must happen after a commit: signals, notices to those waiting for a result, the list of dead
 * letters, the next job of a group, the children of a job, the mark of a limited queue, the timer of a retry, the claims
 * and the counts. All of it only does at once what the sweep would do a second or more later, so a process that dies in
 * the middle loses nothing but the last seconds of the figures over time.
 *
 * @example
 * const followUps = createFollowUps({ database, signal, observe });
 * await followUps.settled([{ job: lease, became: "succeeded" }]);
 */
export function createFollowUps(deps: Deps & { signal: Signal }): FollowUps {
  const promoter = createPromoter(deps);
  const claims = createClaimCleaner(deps);
  const rollups = createRollups(deps);
  const underWay = new Set<Promise<unknown>>();

  /** The move itself has been committed, so anything that goes wrong here is reported and left to the sweep. */
  const track = async (work: Promise<unknown>): Promise<void> => {
    underWay.add(work);
    try {
      await work;
    } catch (error) {
      const during = "following up";
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
      else deps.observe({ event: "follow_up_failed", error: String(error) });
    } finally {
      underWay.delete(work);
    }
  };
  const waker = createWaker((queue) => track(hint(deps.observe, "wake", () => pushMark(deps, queue))));
  const tell = (topic: "finished" | "cancelled", ids: readonly string[]) =>
    ids.length === 0 ? undefined : hint(deps.observe, "notice", () => deps.signal.notices.tell(topic, ids));
  const idle = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.allSettled(underWay);
    await outbox.idle();
  };

  /**
   * By now a worker may have run one of them and seen it die: it found the id still in the list, added nothing, and we
   * took it out. So Postgres is asked afterwards, and a job that dies from here on is added by its worker.
   */
  const noLongerDead = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    const { deadLetters } = deps.signal;
    await hint(deps.observe, "dead letters", async () => {
      await deadLetters.remove(ids);
      const again = await deadAmong(deps, ids);
      if (again.size > 0) await deadLetters.add([...again]);
    });
  };

  /** Jobs that ended stand for those that may start in their place. */
  const wake = (ended: readonly Settled["job"][]) =>
    hint(deps.observe, "wake", () =>
      deps.signal.pushFront(ended.map(({ tenant, queue, id }) => ({ tenant, queue, id, priority: 0 }))),
    );
  const wakeQueuesOf = (jobs: readonly QueueRef[]) =>
    hint(deps.observe, "wake", async () => {
      const queues = new Map(jobs.map(({ tenant, queue }) => [JSON.stringify([tenant, queue]), { tenant, queue }]));
      for (const queue of queues.values()) await offerIfMarked(deps, queue);
    });

  const follow = (outcomes: readonly EnqueueOutcome[], counted?: ReadonlySet<string>): Promise<unknown> => {
    for (const one of outcomes) if (one.kind === "created" && !counted?.has(one.job.id)) rollups.submitted(one.job);
    if (deps.signal.heard) for (const delay_ms of delaysAmong(outcomes)) promoter.expectIn(delay_ms);
    return announce(deps, readyAmong(outcomes));
  };

  const admitted: FollowUps["admitted"] = async ({ outcomes, counted, ended }) => {
    if (outcomes.length === 0) return;
    // Any of those that ended may have children.
    if (ended.length > 0) void outbox.drain();
    await track(Promise.all([follow(outcomes, counted), tell("finished", ended)]));
  };

  const outbox = createDrainer(deps, outboxHandlers({ ...deps, admitted, submitted: rollups.submitted }));

  return {
    submitted: (outcomes) => void track(follow(outcomes)),
    admitted,
    settled(settled) {
      const finished: string[] = [];
      const dead: string[] = [];
      const ended = new Set<string>();
      const next: ReadyJob[] = [];
      const freed: Settled["job"][] = [];
      let awaited = false;
      for (const { job, became, ran_ms, repeated, claim, has_children, ready } of settled) {
        if (job.limited) freed.push(job);
        if (claim !== undefined) ended.add(claim);
        if (has_children) awaited = true;
        if (ready) next.push(...ready);
        const retried = typeof became === "object";
        if (retried) promoter.expectIn(became.due_in_ms);
        else {
          finished.push(job.id);
          if (became === "dead") dead.push(job.id);
        }
        const { waited_seconds = NaN } = job;
        if (!repeated) rollups.ended(job, retried ? "retried" : became, waited_seconds * 1_000, ran_ms);
      }
      if (awaited) void outbox.drain();
      if (ended.size > 0) claims.settled(ended);
      const listed = dead.length > 0 && hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
      return track(
        Promise.all([listed, tell("finished", finished), announce(deps, next), freed.length > 0 && wake(freed)]),
      );
    },
    requeued(jobs) {
      for (const job of jobs) rollups.ended(job, "retried");
    },
    cancelled(jobs, ready) {
      if (jobs.some(({ has_children }) => has_children)) void outbox.drain();
      const ids = jobs.map(({ id }) => id);
      return track(
        Promise.all([tell("cancelled", ids), tell("finished", ids), announce(deps, ready), wakeQueuesOf(jobs)]),
      );
    },
    retried({ ready, were_dead }) {
      // Not all callers know whether they have children, or wait for others.
      void outbox.drain();
      return track(Promise.all([announce(deps, ready), noLongerDead(were_dead)]));
    },
    drain: outbox.drain,
    parked(job, until, claim) {
      if (job.limited) void track(wakeQueuesOf([job]));
      promoter.expectIn(until.getTime() - Date.now());
      if (claim !== undefined) claims.settled([claim]);
    },
    woken: (job) => track(announce(deps, [job])),
    noLongerDead: (ids) => track(noLongerDead(ids)),
    limitsChanged(queue, { groups_widened, marked }) {
      // One without limits any more is signalled by the sweep.
      if (marked) void track(hint(deps.observe, "limits", () => offerMark(deps, queue)));
      if (groups_widened) void outbox.drain();
    },
    throttled: (queue, retry_in_ms) => waker.wakeIn(queue, retry_in_ms),
    idle,
    async stop() {
      outbox.stop();
      promoter.stop();
      waker.stop();
      claims.stop();
      await idle();
      await rollups.stop();
    },
  };
}
