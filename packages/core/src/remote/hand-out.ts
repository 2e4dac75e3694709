import { randomUUID } from "node:crypto";
import type { Database } from "../database/connect.ts";
import { CallerGoneError, certainlyNotApplied, hadNoRoom } from "../database/errors.ts";
import { isUuid } from "../database/literals.ts";
import { inOneTurn, forTenant } from "../database/pool/fair-share.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { LeaseTokenTakenError } from "../lease/claim/statement.ts";
import { deal, wantedBy, type LeaseCall, type Line, type Waiter } from "./waiters.ts";
import { pause } from "../pause.ts";
import { announce, hint } from "../signal/announce.ts";
import { SignalUnavailableError, wakeMark, type Signal } from "../signal/signal.ts";
import { claimJobs } from "../lease/claim.ts";
import type { ClaimSize } from "../lease/claim-size.ts";
import { transition } from "../tracing/send.ts";
import { findLeasedBefore, type Handed } from "./leased-before.ts";
import type { Claimer } from "../lease/lease.ts";

/** Ids in a list can be stale: how many times in a row a call takes others instead before it asks Postgres. */
const takes_max = 5;
/** Calls in one line that claim at once: the others must not wait for connections until their deadline. */
const claims_max = 8;

/** How long a line rests in which nobody takes the types of the jobs that are ready, doubling. */
const rest_ms = { min: 20, max: 1_000 };

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
  deps: Deps & {
    signal: Signal;
    followUps: Pick<FollowUps, "throttled">;
    release(tenant: string, lease_token: string): void;
    size: ClaimSize;
  },
  closing: AbortSignal,
) {
  /** Ids that no call is waiting for any more. Those in the list itself have ordinary priority. */
  const putBack = ({ tenant, queue }: QueueRef, ids: readonly string[]): Promise<void> =>
    hint(deps.observe, "push", () =>
      deps.signal.pushFront(ids.filter(isUuid).map((id) => ({ tenant, queue, id, priority: 0 }))),
    );

  const untilOver = ({ gone, ends_at }: Caller) =>
    ends_at === Infinity
      ? gone
      : AbortSignal.any([gone, AbortSignal.timeout(Math.max(0, Math.ceil(ends_at - performance.now())))]);

  /** Work in the tenant's turn. Undefined if the caller was gone, or its wait over, before that. */
  const inTurn = async <T>(
    { tenant }: LeaseCall,
    caller: Caller,
    work: (database: Database) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await inOneTurn(forTenant(deps.database, { tenant, gone: () => untilOver(caller) }), work);
    } catch (error) {
      if (error instanceof CallerGoneError) return undefined;
      throw error;
    }
  };

  /** What an earlier request under the caller's own token leased: undefined if there was none. */
  const leasedBefore = async (call: LeaseCall, caller: Caller): Promise<Handed | undefined> => {
    const { lease_token } = call;
    if (lease_token === undefined || caller.gone.aborted) return undefined;
    return inTurn(call, caller, (database) => findLeasedBefore({ database }, { ...call, lease_token }));
  };

  /**
   * Claim for a call; undefined if there was nothing. A claim that was sent is the call's answer, even if the caller is
   * gone by then. Under a token that was used before it claims nothing, and has what that leased.
   */
  const claimFor = async (call: LeaseCall, caller: Caller, ids: string[] | "oldest"): Promise<Handed | undefined> => {
    const { lease_token = randomUUID(), lease_seconds } = call;
    const claimer: Claimer = {
      ...call,
      lease_token,
      queues: [call.queue],
      size: deps.size,
      throttled: deps.followUps.throttled,
      unanswered: call.lease_token === undefined ? (token, tenant) => deps.release(tenant, token) : undefined,
      put_back: (jobs) => void announce(deps, jobs, "front"),
      more_room: () => (ids === "oldest" ? 0 : Math.max(0, call.jobs_max - ids.length)),
    };
    let claimed = false;
    try {
      return await inTurn(call, caller, async (database) => {
        const own = { ...deps, database };
        const sent_at = performance.now();
        claimed = true;
        const jobs = await transition(deps, "claim", { parent: call.trace ?? null }, () =>
          claimJobs(own, ids === "oldest" ? call.jobs_max : ids, claimer),
        );
        return jobs.length > 0 ? { jobs, sent_at, remaining_ms: lease_seconds * 1_000, repeated: false } : undefined;
      });
    } catch (error) {
      claimed = !hadNoRoom(error) && !(error instanceof LeaseTokenTakenError);
      if (error instanceof LeaseTokenTakenError) return await leasedBefore(call, caller);
      // What a call without a token of its own may have leased goes back.
      throw call.lease_token === undefined ? certainlyNotApplied(error) : error;
    } finally {
      // Otherwise they would be lost to the list.
      if (!claimed && ids !== "oldest") await putBack(call, ids);
    }
  };

  /**
   * True when it got something; otherwise it keeps its place, unless its wait is over. One that takes only some types looks
   * for the oldest of them as well, and goes to the end of the line without any.
   */
  const give = async (line: Line, waiter: Waiter, ids: string[] | "oldest"): Promise<boolean> => {
    waiter.claiming = true;
    try {
      const caller = { gone: waiter.gone, ends_at: Infinity };
      const handed = (await claimFor(waiter.call, caller, ids)) ?? (await oldestOfTypes(waiter.call, caller, ids));
      if (handed || waiter.gone.aborted) waiter.leave(handed);
      else if (waiter.call.types) toTheEnd(line, waiter);
      return handed !== undefined;
    } catch (error) {
      waiter.leave(error as Error);
      return false;
    } finally {
      waiter.claiming = false;
    }
  };

  /** The ids that a call found in the list may be of other types, with its own behind them. */
  const oldestOfTypes = async (
    call: LeaseCall,
    caller: Caller,
    ids: string[] | "oldest",
  ): Promise<Handed | undefined> =>
    call.types && ids !== "oldest" && !caller.gone.aborted ? claimFor(call, caller, "oldest") : undefined;

  /** The first calls, as many as take the same types. */
  const front = ({ waiters }: Line): Waiter[] => {
    const [first] = waiters;
    const isOther = ({ call }: Waiter) => call.types?.join("\n") !== first?.call.types?.join("\n");
    const same = waiters.slice(0, claims_max).findIndex(isOther);
    return waiters.slice(0, same === -1 ? claims_max : same);
  };
  /** So that other workers take the jobs that these calls do not take. A call that joins the line ends it. */
  const rest = async (line: Line): Promise<void> => {
    line.rest_ms = Math.min(rest_ms.max, Math.max(rest_ms.min, line.rest_ms * 2));
    line.joined = new AbortController();
    await pause(line.rest_ms, AbortSignal.any([closing, line.joined.signal]));
  };

  return {
    putBack,

    leasedBefore,

    /** What is there now. */
    async leaseNow(call: LeaseCall, caller: Caller): Promise<Handed | undefined> {
      if (deps.signal.marks_only) return claimFor(call, caller, "oldest");
      const takes = () => (caller.gone.aborted ? 0 : performance.now() < caller.ends_at ? takes_max : 1);
      for (let take = 0; take < takes(); take += 1) {
        let ids: string[];
        try {
          ids = (await deps.signal.take([call], call.jobs_max)).ids;
        } catch (error) {
          if (error instanceof SignalUnavailableError) return claimFor(call, caller, "oldest");
          throw error;
        }
        // While Redis takes no writes, jobs may be only in Postgres, not in the list.
        if (ids.length === 0) return deps.signal.state() === "up" ? undefined : claimFor(call, caller, "oldest");
        const handed = (await claimFor(call, caller, ids)) ?? (await oldestOfTypes(call, caller, ids));
        if (handed || call.types) return handed;
      }
      // The list is full of ids of jobs that are gone; there may be ready ones behind them.
      return takes() < takes_max ? undefined : claimFor(call, caller, "oldest");
    },

    /** Hand out what the signal has, after an id or a mark ended the wait. */
    async serveSignalled(line: Line, woken: string): Promise<void> {
      let ids = woken === wakeMark ? [] : [woken];
      let passed_over = 0;
      while (!closing.aborted) {
        const more = wantedBy(front(line)) - ids.length;
        if (more > 0)
          await hint(deps.observe, "take", async () => {
            ids = inOrder(ids, (await deps.signal.take([line], more)).ids);
          });
        const { hands, left } = deal(front(line), ids);
        if (left.length > 0) await putBack(line, left);
        if (hands.length === 0) return;
        const given = await Promise.all(hands.map((hand) => give(line, hand.waiter, hand.ids)));
        ids = [];
        if (given.some(Boolean)) {
          line.rest_ms = 0;
          passed_over = 0;
        } else if (hands[0]?.waiter.call.types) passed_over += hands.length;
        if (passed_over > 0 && passed_over >= line.waiters.length) return rest(line);
      }
      if (ids.length > 0) await putBack(line, ids);
    },

    /** Hand out what Postgres has, to one call after the other, when there is no signal to say how much that is. */
    async serveOldest(line: Line): Promise<void> {
      for (let [first] = line.waiters; first && !closing.aborted; [first] = line.waiters)
        if (!(await give(line, first, "oldest"))) return;
    },
  };
}

function toTheEnd({ waiters }: Line, waiter: Waiter): void {
  const at = waiters.indexOf(waiter);
  if (at !== -1) waiters.push(...waiters.splice(at, 1));
}

/** What ended a wait may come from either end of the list, and ids sort by when their jobs were made. */
function inOrder(woken: string[], taken: string[]): string[] {
  return (woken[0] ?? "") < (taken[0] ?? "") ? [...woken, ...taken] : [...taken, ...woken];
}
