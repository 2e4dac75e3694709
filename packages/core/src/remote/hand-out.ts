import { CallerGoneError, certainlyNotApplied, hadNoRoom, outcomeUnknown } from "../database/errors.ts";
import { isUuid } from "../database/literals.ts";
import { inOneTurn, onBehalfOf } from "../database/pool/on-behalf-of.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import type { LeaseReturns } from "../lease/returns.ts";
import { LeaseTokenTakenError } from "../lease/token-taken.ts";
import { deal, wantedBy, type LeaseCall, type Line, type Waiter } from "./waiters.ts";
import { announce, hint, send } from "../signal/announce.ts";
import { SignalUnavailableError, wakeMark, type Signal } from "../signal/signal.ts";
import { claimJobs } from "../lease/claim.ts";
import { createLocksMet } from "../lease/claim/locks-met.ts";
import { createSkipHeld } from "../lease/claim/skip-held.ts";
import { transition } from "../tracing/transition.ts";
import { renewedIfLate } from "./renewed-if-late.ts";
import type { Claimer, HandedJob } from "../lease/lease.ts";

/** Ids in a list can be stale: how many times in a row a call takes others instead before it asks Postgres. */
const takes_max = 5;
/** Calls in one line that claim at once: the others must not wait for connections until their deadline. */
const claims_max = 8;

/** Who waits: until `ends_at`, by `performance.now()`, or until they are gone. */
type Caller = { gone: AbortSignal; ends_at: number };

/**
 * How jobs get from a queue to the calls that ask for them: for one call at once, or for a line until it or the queue
 * is empty, as one signal may stand for many jobs. `closing` ends it after what is under way.
 *
 * @example
 * const handout = createHandOut(deps, closing.signal);
 * await handout.serveSignalled(line, woken.id);
 */
export function createHandOut(
  deps: Deps & { signal: Signal; followUps: Pick<FollowUps, "throttled">; returns: LeaseReturns },
  closing: AbortSignal,
) {
  const locks = createLocksMet();
  const skipHeld = createSkipHeld(deps);

  /** Ids that no call is waiting for any more. Those in the list itself have ordinary priority. */
  const putBack = ({ tenant, queue }: QueueRef, ids: readonly string[]): Promise<void> =>
    hint(deps.observe, "push", () =>
      send(
        deps,
        ids.filter(isUuid).map((id) => ({ tenant, queue, id, priority: 0 })),
        "front",
      ),
    );

  /** The room is the claim's, whatever becomes of its call meanwhile, until jobs are handed over or not. */
  const takeBack = (call: LeaseCall, jobs: HandedJob[]): void => {
    call.room?.leave();
    if (jobs.length > 0) void deps.returns.giveBack(jobs);
  };

  /**
   * Claim for a call; what comes too late for it goes back to the front, as does what is too heavy for one answer, or of a queue
   * that other claims keep busy. One that is gone, or whose wait is over, before it has its turn claims nothing.
   */
  const claimFor = async (call: LeaseCall, caller: Caller, ids: string[] | "oldest"): Promise<HandedJob[]> => {
    const jobs = await claimInRoom(call, caller, ids).catch((error: unknown) => {
      takeBack(call, []);
      throw error;
    });
    if (jobs.length > 0 && !caller.gone.aborted) return jobs;
    takeBack(call, jobs);
    return [];
  };

  const claimInRoom = async (
    { room, ...call }: LeaseCall,
    { gone, ends_at }: Caller,
    ids: string[] | "oldest",
  ): Promise<HandedJob[]> => {
    const claimer: Claimer = {
      ...call,
      queues: [call.queue],
      locks,
      passed_over: (tenant, left) => void skipHeld(tenant, left),
      throttled: deps.followUps.throttled,
      unanswered: (token) => deps.returns.unanswered(token, call.tenant),
      put_back: (jobs) => void announce(deps, jobs, "front"),
      more_room: () => (ids === "oldest" ? 0 : Math.max(0, call.jobs_max - ids.length)),
    };
    const waitsUntil = () =>
      ends_at === Infinity
        ? gone
        : AbortSignal.any([gone, AbortSignal.timeout(Math.max(0, Math.ceil(ends_at - performance.now())))]);
    const inLine = onBehalfOf(deps.database, { tenant: call.tenant, gone: waitsUntil, ahead: room && "room" });
    const work = () =>
      inOneTurn(inLine, async (database) => {
        const own = { ...deps, database };
        const sent_at = performance.now();
        const claimed = await transition(deps, "claim", { parent: call.trace ?? null }, () =>
          claimJobs(own, ids === "oldest" ? call.jobs_max : ids, claimer),
        ).catch((error: unknown) => {
          // Whatever it may have leased goes back. A token of the caller's own is not for another try then.
          throw call.lease_token === undefined || !outcomeUnknown(error) ? certainlyNotApplied(error) : error;
        });
        return renewedIfLate(own, claimed, call, sent_at);
      });
    try {
      const entered = room?.enter(waitsUntil);
      if (entered) await entered;
      return await work();
    } catch (error) {
      const is_gone = error instanceof CallerGoneError;
      const unclaimed = is_gone || hadNoRoom(error) || error instanceof LeaseTokenTakenError;
      // Otherwise they would be lost to the list.
      if (ids !== "oldest" && unclaimed) await putBack(call, ids);
      if (is_gone) return [];
      throw error;
    }
  };

  /** True when it got something; otherwise it keeps its place. */
  const give = async (waiter: Waiter, ids: string[] | "oldest"): Promise<boolean> => {
    try {
      const jobs = await claimFor(waiter.call, { gone: waiter.gone, ends_at: Infinity }, ids);
      if (jobs.length > 0 && !waiter.leave(jobs)) takeBack(waiter.call, jobs);
      return jobs.length > 0;
    } catch (error) {
      waiter.leave(error as Error);
      return false;
    }
  };

  const front = (line: Line): Waiter[] => line.waiters.slice(0, claims_max);

  return {
    putBack,

    /** What is there now. */
    async leaseNow(call: LeaseCall, caller: Caller): Promise<HandedJob[]> {
      const takes = () => (caller.gone.aborted ? 0 : performance.now() < caller.ends_at ? takes_max : 1);
      for (let take = 0; take < takes(); take += 1) {
        let ids: string[];
        try {
          ids = await deps.signal.take([call], call.jobs_max);
        } catch (error) {
          if (error instanceof SignalUnavailableError) return claimFor(call, caller, "oldest");
          throw error;
        }
        // While Redis takes no writes, jobs may be only in Postgres, not in the list.
        if (ids.length === 0) return deps.signal.state() === "up" ? [] : claimFor(call, caller, "oldest");
        const jobs = await claimFor(call, caller, ids);
        if (jobs.length > 0) return jobs;
      }
      // The list is full of ids of jobs that are gone; there may be ready ones behind them.
      return takes() < takes_max ? [] : claimFor(call, caller, "oldest");
    },

    /** Hand out what the signal has, after an id or a mark ended the wait. */
    async serveSignalled(line: Line, woken: string): Promise<void> {
      let ids = woken === wakeMark ? [] : [woken];
      while (!closing.aborted) {
        const more = wantedBy(front(line)) - ids.length;
        if (more > 0)
          await hint(deps.observe, "take", async () => {
            ids = inOrder(ids, await deps.signal.take([line], more));
          });
        const { hands, left } = deal(front(line), ids);
        if (left.length > 0) await putBack(line, left);
        if (hands.length === 0) return;
        await Promise.all(hands.map((hand) => give(hand.waiter, hand.ids)));
        ids = [];
      }
      if (ids.length > 0) await putBack(line, ids);
    },

    /** Hand out what Postgres has, when there is no signal to say how much that is. */
    async serveOldest(line: Line): Promise<void> {
      while (line.waiters.length > 0 && !closing.aborted) {
        const given = await Promise.all(front(line).map((waiter) => give(waiter, "oldest")));
        if (!given.every(Boolean)) return;
      }
    },
  };
}

/** What ended a wait may come from either end of the list, and ids sort by when their jobs were made. */
function inOrder(woken: string[], taken: string[]): string[] {
  return (woken[0] ?? "") < (taken[0] ?? "") ? [...woken, ...taken] : [...taken, ...woken];
}
