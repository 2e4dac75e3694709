import { createShares } from "@atlasqueue/contract";
import { isUnavailable } from "../database/errors.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { createHandOut } from "./hand-out.ts";
import { createClaimSize } from "../lease/claim-size.ts";
import type { Handed } from "./leased-before.ts";
import { releaseLease } from "./release.ts";
import { lineName, type LeaseCall, type Line, type Waiter } from "./waiters.ts";
import { pause } from "../pause.ts";
import { readyAmong } from "../queues/ready-queues.ts";
import { takeOrThrow } from "../shares.ts";
import { SignalUnavailableError, type Signal, type Woken } from "../signal/signal.ts";

export type LongPoll = {
  /**
   * Lease up to `jobs_max` ready jobs; none if there were none in time. Under a token of the caller's that leased before,
   * what is still leased under it, at once. `hungUp` aborts when the caller is gone: nothing more is claimed for it. Rejects
   * when the database is away, with `NoRoomError` when too many are already waiting, and with `LeaseTokenUsedError`.
   */
  lease(call: LeaseCall, hungUp: AbortSignal): Promise<Handed>;
  /** The queues that calls wait for. */
  askedFor(): readonly QueueRef[];
  /** Releases, once and with no attempt counted, what was leased under a token of ours and could not be handed over. */
  release(tenant: string, lease_token: string): void;
  /** From now on no call waits: those that do are answered with nothing. */
  close(): Promise<void>;
  /** After the last answer: resolves when undelivered jobs have been released. */
  released(): Promise<void>;
};

const waiters_max_default = 10_000;
/** How long one wait on the signal lasts; it starts over when a queue joins those waited for. */
const listen_ms = 5_000;
/**
 * How long a wait lasts at least, before a queue joining or leaving ends it: a hundredth of a second for each five
 * hundred queues it names, as naming them all again costs Redis, and us, in proportion.
 */
const listenMsMin = (queues: number): number => Math.min(100, queues / 50);
/** While Redis is away, how long to rest between two looks into Postgres; half of it is random. */
const poll_ms_max = 1_000;

/**
 * Where remote workers get their jobs. Calls that have to wait line up per queue, and one wait on the signal serves
 * them all: a waiting call is a timer and an entry in a list, and asks neither Redis nor Postgres.
 *
 * `waiters_max`: of all tenants together, which share it.
 *
 * @example
 * const longPoll = createLongPoll({ database, signal, observe, followUps });
 * const jobs = await longPoll.lease({ tenant, queue, worker_id, lease_seconds: 30, jobs_max: 1, wait_ms: 20_000 }, hungUp);
 */
export function createLongPoll(
  deps: Deps & { signal: Signal; followUps: Pick<FollowUps, "throttled"> },
  waiters_max = waiters_max_default,
): LongPoll {
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const releasing = new Set<Promise<unknown>>();
  const release = (tenant: string, lease_token: string): void => {
    const released: Promise<unknown> = releaseLease(deps, tenant, lease_token)
      .catch((error: unknown) => deps.observe({ event: "lease_return_failed", error: String(error) }))
      .finally(() => releasing.delete(released));
    releasing.add(released);
  };
  const size = createClaimSize();
  const handout = createHandOut({ ...deps, release, size }, closing.signal);
  const lines = new Map<string, Line>();
  const waits = createShares(waiters_max);
  /** Aborts when the current wait no longer covers the right queues. */
  let changed = new AbortController();
  let listening_since = -Infinity;
  let ending: NodeJS.Timeout | undefined;
  let listening: Promise<void> | undefined;

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  };

  /** Soon, and once for all queues that join or leave within a short time. */
  const listenAnew = (): void => {
    const rest_ms = listening_since + listenMsMin(lines.size) - performance.now();
    if (rest_ms <= 0) changed.abort();
    else ending ??= setTimeout(() => changed.abort(), rest_ms);
  };

  const failAll = (line: Line, error: Error): void => {
    for (const waiter of line.waiters.slice()) if (!waiter.claiming) waiter.leave(error);
  };
  const serve = async (line: Line, work: () => Promise<void>): Promise<void> => {
    line.serving = true;
    try {
      await work();
    } catch (error) {
      failAll(line, error as Error);
    } finally {
      line.serving = false;
      if (line.waiters.length === 0) lines.delete(lineName(line));
      else listenAnew();
    }
  };

  const wake = ({ queue, id }: Woken): void => {
    const line = lines.get(lineName(queue));
    if (!line) return track(handout.putBack(queue, [id]));
    track(serve(line, () => (deps.signal.marks_only ? handout.serveOldest(line) : handout.serveSignalled(line, id))));
  };

  /** One query for all lines, so that a thousand waiting calls cost as little as one. */
  const poll = async (): Promise<void> => {
    try {
      for (const queue of await readyAmong(deps, [...lines.values()])) {
        const line = lines.get(lineName(queue));
        if (line && !line.serving) track(serve(line, () => handout.serveOldest(line)));
      }
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // Waiting calls may as well wait for Postgres.
      deps.observe({ event: "database_unavailable", during: "lease", error: String(error) });
    }
    await pause(poll_ms_max * (0.5 + Math.random() / 2), closing.signal);
  };

  const listenOnce = async (): Promise<void> => {
    changed = new AbortController();
    listening_since = performance.now();
    clearTimeout(ending);
    ending = undefined;
    const open = [...lines.values()].filter(({ serving }) => !serving);
    if (open.length === 0) return pause(listen_ms, changed.signal);
    if (deps.signal.state() !== "up") return poll();
    try {
      const woken = await deps.signal.wait(open, listen_ms, changed.signal);
      if (woken) wake(woken);
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) throw error;
      await poll();
    }
  };

  const listen = async (): Promise<void> => {
    while (lines.size > 0 && !closing.signal.aborted)
      try {
        await listenOnce();
      } catch (error) {
        for (const line of lines.values()) failAll(line, error as Error);
        // A line being served stays, and must not make this one spin.
        await pause(poll_ms_max, closing.signal);
      }
    // In the same turn as the look at `lines`, so that a call joining after it starts another.
    listening = undefined;
    clearTimeout(ending);
    ending = undefined;
  };

  const join = (waiter: Waiter): void => {
    const { tenant, queue } = waiter.call;
    let line = lines.get(lineName(waiter.call));
    if (!line) {
      lines.set(
        lineName(waiter.call),
        (line = { tenant, queue, waiters: [], serving: false, rest_ms: 0, joined: new AbortController() }),
      );
      listenAnew();
    }
    line.waiters.push(waiter);
    line.joined.abort();
    listening ??= listen();
  };

  const quit = (waiter: Waiter): void => {
    const line = lines.get(lineName(waiter.call));
    const at = line?.waiters.indexOf(waiter) ?? -1;
    if (!line || at === -1) return;
    line.waiters.splice(at, 1);
    waits.give(line.tenant, 1);
    if (line.waiters.length > 0 || line.serving) return;
    lines.delete(lineName(line));
    listenAnew();
  };

  const waitInLine = (call: LeaseCall, hungUp: AbortSignal): Promise<Handed | undefined> =>
    new Promise((resolve, reject) => {
      const over = new AbortController();
      const leave = (answer: Handed | undefined | Error): void => {
        clearTimeout(timer);
        hungUp.removeEventListener("abort", end);
        over.abort();
        quit(waiter);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      const end = () => {
        over.abort();
        if (!waiter.claiming) leave(undefined);
      };
      const waiter: Waiter = { call, gone: over.signal, claiming: false, end, leave };
      const timer = setTimeout(end, call.wait_ms);
      hungUp.addEventListener("abort", end, { once: true });
      join(waiter);
    });

  return {
    askedFor: () => [...lines.values()],
    async lease(wanted, hungUp) {
      const call = { ...wanted, jobs_max: Math.min(wanted.jobs_max, size.jobs_max()) };
      const ends_at = call.wait_ms > 0 ? performance.now() + call.wait_ms : Infinity;
      const mayWait = () => call.wait_ms > 0 && !hungUp.aborted && !closing.signal.aborted;
      const caller = { gone: hungUp, ends_at };
      const nothing = () => ({ jobs: [], sent_at: performance.now(), remaining_ms: 0, repeated: false });
      // A call that can wait does not overtake those already waiting.
      const now = !mayWait() || !lines.has(lineName(call)) ? await handout.leaseNow(call, caller) : undefined;
      const before = now ?? (await handout.leasedBefore(call, caller));
      if (before || !mayWait()) return before ?? nothing();
      takeOrThrow(waits, call.tenant, 1, "calls that wait for jobs");
      const later = await waitInLine({ ...call, wait_ms: Math.max(0, ends_at - performance.now()) }, hungUp);
      // A claim under its token that was under way elsewhere has ended by now.
      return later ?? (await handout.leasedBefore(call, { gone: hungUp, ends_at: Infinity })) ?? nothing();
    },
    async close() {
      closing.abort();
      for (const line of lines.values()) for (const waiter of line.waiters.slice()) waiter.end();
      changed.abort();
      await listening;
      await Promise.all(underWay);
    },
    release,
    released: async () => void (await Promise.all(releasing)),
  };
}
