import { pause, wakeMark, type QueueRef, type Sweeper, type Woken } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import type { Found, Turn } from "./found.ts";
import type { Served } from "./served.ts";

/** Ids of one tenant to claim. `others`: meanwhile, other tenants are asked for theirs. */
export type NextIds = { tenant: string; ids: string[]; others: boolean };
const none: NextIds = { tenant: "", ids: [], others: true };

export type IdSourceParts = {
  deps: WorkerDeps;
  sweeper: Pick<Sweeper, "nudge">;
  served: Served;
  found: Found;
  poll_timeout_seconds: number;
};

/**
 * Lists named in one wait: two thousand take 1.7 ms of Redis' thread, part of it at the beginning and part at the end.
 * Jobs in others are found by a look.
 */
const lists_max = 2_000;
/** When the next look is due sooner, no wait is begun: that would cost more than it could win. */
const waitMsMin = (lists: number): number => Math.max(1, lists / 50);
/** How long a look is waited for before anything else is done. */
const look_ms_patient = 50;
/** Timers may be early by so much. */
const early_ms_max = 10;

/**
 * Where a worker's ids come from: at most as many as asked for; none when none came in time. It waits on the lists of
 * the tenants that most recently had jobs. Once something stirs, it asks who else has jobs, and takes from one after
 * the other: a wait for each job, on the lists of a thousand tenants, would cost more than the job.
 *
 * @example
 * const nextIds = idSource(parts, stop);
 * const { tenant, ids } = await nextIds(running.free());
 */
export function idSource({ deps, sweeper, served, found, poll_timeout_seconds }: IdSourceParts, stop: AbortSignal) {
  const poll_ms = poll_timeout_seconds * 1_000;
  let turn = 0;
  let stirred_at = performance.now();

  /** Each queue comes first in turn, so that a full one does not starve the others. */
  const inTurn = (queues: readonly QueueRef[]): QueueRef[] => {
    const first = turn % queues.length;
    return [...queues.slice(first), ...queues.slice(0, first)];
  };

  const wait = async (
    queues: readonly QueueRef[],
    timeout_ms: number,
    changed: AbortSignal,
  ): Promise<Woken | undefined> => {
    const ended = AbortSignal.any([stop, changed]);
    const woken = await deps.signal.wait(queues, timeout_ms, ended);
    if (woken) stirred_at = performance.now();
    else if (!ended.aborted && performance.now() - stirred_at >= poll_ms - early_ms_max) {
      stirred_at = performance.now();
      sweeper.nudge();
    }
    return woken;
  };
  const idsOf = ({ id }: Woken): string[] => (id === wakeMark ? [] : [id]);

  const ofOne = async (tenant: string, ids_max: number, changed: AbortSignal): Promise<NextIds> => {
    const queues = inTurn(served.queuesOf([tenant]));
    const ids = await deps.signal.take(queues, ids_max);
    if (ids.length > 0) return { tenant, ids, others: false };
    const woken = await wait(queues, poll_ms, changed);
    return { tenant, ids: woken ? idsOf(woken) : [], others: false };
  };

  const takeFor = async (next: Turn, ids_max: number): Promise<string[]> => {
    const open = served.queuesOf([next.tenant]).filter(({ queue }) => next.queues.has(queue));
    if (open.length === 0) return [];
    try {
      return await deps.signal.take(inTurn(open), ids_max);
    } catch (error) {
      found.putBack(next);
      throw error;
    }
  };

  /** From the first in line that has any. Another worker, or our last claim, may have them by now. */
  const ofFound = async (ids_max: number): Promise<NextIds | undefined> => {
    for (let next = found.next(); next && !stop.aborted; next = found.next()) {
      const { tenant } = next;
      const ids = await takeFor(next, ids_max);
      if (ids.length === 0) {
        found.empty(next);
        continue;
      }
      found.taken(next, ids.length === ids_max);
      stirred_at = performance.now();
      served.hasJobs(tenant);
      return { tenant, ids, others: true };
    }
    return undefined;
  };

  const ofMany = async (ids_max: number, changed: AbortSignal): Promise<NextIds> => {
    const queues_each = served.open().length;
    const tenants = served.tenants();
    const all_heard = tenants.length * queues_each <= lists_max;
    // A look is quick, unless Postgres is slow or away: that keeps nobody from the ids that come meanwhile.
    if (found.lookInMs(all_heard) === 0) await Promise.race([found.look(), pause(look_ms_patient, stop)]);
    const taken = await ofFound(ids_max);
    if (taken) return taken;
    const recent = tenants.slice(-Math.max(1, Math.floor(lists_max / queues_each)));
    const queues = inTurn(served.queuesOf(recent)).slice(0, lists_max);
    const look_ms = found.lookInMs(all_heard);
    if (look_ms <= waitMsMin(queues.length)) {
      await pause(look_ms, stop);
      return none;
    }
    const looked = new AbortController();
    void found.looking()?.then(() => looked.abort());
    const woken = await wait(queues, Math.min(poll_ms, look_ms), AbortSignal.any([changed, looked.signal]));
    if (!woken) return none;
    found.woken(woken.queue);
    served.hasJobs(woken.queue.tenant);
    return { tenant: woken.queue.tenant, ids: idsOf(woken), others: true };
  };

  return async (ids_max: number): Promise<NextIds> => {
    turn += 1;
    // Before anything is awaited: a tenant that joins meanwhile ends the wait that it is not in.
    const changed = served.changed();
    const [only, other] = served.tenants();
    const lists = served.open().length;
    if (only === undefined || lists === 0) return none;
    return other === undefined && lists <= lists_max ? ofOne(only, ids_max, changed) : ofMany(ids_max, changed);
  };
}
