import type { Deps, QueueRef } from "./deps.ts";
import { pause } from "./pause.ts";
import type { Refiller } from "./refiller.ts";
import { announce, hint } from "./signal/announce.ts";
import { SignalUnavailableError, wakeMark, type Signal } from "./signal/signal.ts";
import { claim, claimReady, type Claimer, type Lease } from "./transitions/claim.ts";
import { release } from "./transitions/release.ts";

export type LeaseCall = QueueRef & {
  worker_id: string;
  lease_seconds: number;
  jobs_max: number;
  /** How long to wait for a job when there is none. */
  wait_ms: number;
};

export type LeaseDesk = {
  /**
   * Lease up to `jobs_max` ready jobs; none when there were none in time. `gone` aborts when the caller has hung up:
   * what was claimed for it is given back. Rejects when the database is away, or too many wait already.
   */
  lease(call: LeaseCall, gone: AbortSignal): Promise<Lease[]>;
  /** Answers those that wait with nothing. */
  close(): Promise<void>;
};

/** Too many calls wait at the desk. */
export class LeaseDeskFullError extends Error {
  override readonly name = "LeaseDeskFullError";
}

type Waiter = { call: LeaseCall; gone: AbortSignal; leave(leases: Lease[] | Error): void };

const waiters_max = 10_000;
/** How long one wait on the signal lasts; a wait begins anew when a queue joins those that are waited for. */
const listen_ms = 5_000;
/** While Redis is away, how long the desk rests between two looks into Postgres; half of it is chance. */
const poll_ms_max = 1_000;
/** Ids in a list can be stale; how many times in a row a call takes others for them. */
const takes_max = 5;

/**
 * Where remote workers get their jobs. Those that have to wait stand in line for their queue, and the desk waits on the
 * signal once for all of them: a waiting call is a timer and an entry in a list, and asks neither Redis nor Postgres.
 *
 * @example
 * const desk = createLeaseDesk({ database, signal, observe });
 * const leases = await desk.lease({ tenant, queue, worker_id, lease_seconds: 30, jobs_max: 1, wait_ms: 20_000 }, gone);
 */
export function createLeaseDesk(deps: Deps & { signal: Signal; refiller: Refiller }): LeaseDesk {
  const lines = new Map<string, Waiter[]>();
  const closing = new AbortController();
  let changed = new AbortController();
  let listening: Promise<void> | undefined;

  const lineOf = ({ tenant, queue }: QueueRef) => `${tenant} ${queue}`;

  /** Claim for a call; what comes too late for it goes back to the front. */
  const claimFor = async (call: LeaseCall, gone: AbortSignal, ids: readonly string[] | "oldest"): Promise<Lease[]> => {
    const claimer: Claimer = { ...call, queues: [call.queue], throttled: deps.refiller.freeIn };
    const leases = ids === "oldest" ? await claimReady(deps, call.jobs_max, claimer) : await claim(deps, ids, claimer);
    if (!gone.aborted || leases.length === 0) return leases;
    await announce(deps, await release(deps, leases), "front");
    return [];
  };

  /** What is there now. */
  const leaseNow = async (call: LeaseCall, gone: AbortSignal): Promise<Lease[]> => {
    for (let take = 0; take < takes_max && !gone.aborted; take += 1) {
      let ids: string[];
      try {
        ids = await deps.signal.take([call], call.jobs_max);
      } catch (error) {
        if (error instanceof SignalUnavailableError) return claimFor(call, gone, "oldest");
        throw error;
      }
      if (ids.length === 0) return [];
      const leases = await claimFor(call, gone, ids);
      if (leases.length > 0) return leases;
    }
    return [];
  };

  const join = (waiter: Waiter, place: "push" | "unshift" = "push"): void => {
    const name = lineOf(waiter.call);
    const line = lines.get(name);
    if (line) return void line[place](waiter);
    lines.set(name, [waiter]);
    // The wait that is under way does not look at this queue.
    changed.abort();
    listening ??= listen();
  };

  const leaveLine = (waiter: Waiter): void => {
    const name = lineOf(waiter.call);
    const line = lines.get(name) ?? [];
    const at = line.indexOf(waiter);
    if (at !== -1) line.splice(at, 1);
    if (line.length > 0 || !lines.delete(name)) return;
    changed.abort();
  };

  /** The first in line gets what there is; back to its place when that was nothing after all. False when it was. */
  const serve = async (queue: QueueRef, first: string | "oldest"): Promise<boolean> => {
    const waiter = lines.get(lineOf(queue))?.[0];
    if (!waiter) {
      // They have all gone meanwhile. An id that waits in the list has ordinary priority.
      if (first !== "oldest")
        await hint(deps.observe, "push", () => deps.signal.pushFront([{ ...queue, id: first, priority: 0 }]));
      return false;
    }
    leaveLine(waiter);
    try {
      const ids = first === "oldest" ? first : await fill(waiter.call, first);
      const leases = await claimFor(waiter.call, waiter.gone, ids);
      if (leases.length > 0) waiter.leave(leases);
      else if (!waiter.gone.aborted) join(waiter, "unshift");
      return leases.length > 0;
    } catch (error) {
      waiter.leave(error as Error);
      return false;
    }
  };

  /** More ids for a call that takes several jobs, or for the mark that only says that there are some. */
  const fill = async (call: LeaseCall, first: string): Promise<string[]> => {
    const ids = first === wakeMark ? [] : [first];
    if (ids.length < call.jobs_max)
      await hint(deps.observe, "take", async () => {
        ids.push(...(await deps.signal.take([call], call.jobs_max - ids.length)));
      });
    return ids;
  };

  const listen = async (): Promise<void> => {
    while (lines.size > 0 && !closing.signal.aborted) {
      changed = new AbortController();
      const queues = [...lines.values()].flatMap((line) => line.slice(0, 1).map(({ call }) => call));
      try {
        const stop = AbortSignal.any([changed.signal, closing.signal]);
        const woken = await deps.signal.wait(queues, listen_ms, stop);
        if (woken) void serve(woken.queue, woken.id);
      } catch (error) {
        if (error instanceof SignalUnavailableError) await poll(queues);
        else for (const line of lines.values()) for (const waiter of line.slice()) waiter.leave(error as Error);
      }
    }
    listening = undefined;
  };

  const poll = async (queues: readonly QueueRef[]): Promise<void> => {
    for (const queue of queues) while (await serve(queue, "oldest"));
    await pause(poll_ms_max * (0.5 + Math.random() / 2), closing.signal);
  };

  const waitInLine = (call: LeaseCall, hungUp: AbortSignal): Promise<Lease[]> =>
    new Promise((resolve, reject) => {
      const left = new AbortController();
      const leave = (leases: Lease[] | Error): void => {
        clearTimeout(timer);
        left.abort();
        leaveLine(waiter);
        if (leases instanceof Error) reject(leases);
        else resolve(leases);
      };
      const end = () => leave([]);
      const waiter: Waiter = { call, gone: left.signal, leave };
      const timer = setTimeout(end, call.wait_ms);
      hungUp.addEventListener("abort", end, { once: true, signal: left.signal });
      join(waiter);
    });

  return {
    async lease(call, hungUp) {
      const leases = await leaseNow(call, hungUp);
      if (leases.length > 0 || call.wait_ms === 0 || hungUp.aborted || closing.signal.aborted) return leases;
      let waiting = 0;
      for (const line of lines.values()) waiting += line.length;
      if (waiting >= waiters_max) throw new LeaseDeskFullError(`${waiters_max} calls wait for jobs already`);
      return waitInLine(call, hungUp);
    },
    async close() {
      closing.abort();
      for (const line of lines.values()) for (const waiter of line.slice()) waiter.leave([]);
      await listening;
    },
  };
}
