import { pause, type QueueRef } from "@atlasqueue/core/internal";
import { wakeMark, type Taken, type Woken } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";
import type { Served } from "./served.ts";
import type { TenantLine } from "./tenant-line.ts";

/**
 * Ids of one tenant to claim, and the queues whose lists they came from. `others`: meanwhile, other tenants are asked for
 * theirs.
 */
export type NextIds = { tenant: string; ids: string[]; queues: string[]; others: boolean };
const none: NextIds = { tenant: "", ids: [], queues: [], others: true };

export type IdSourceParts = {
  deps: WorkerDeps;
  served: Served;
  line: TenantLine;
  poll_timeout_seconds: number;
  /** Free slots of a queue, if each has its own. */
  freeOf?: ((queue: string) => number) | undefined;
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

/**
 * Where a worker's ids come from: at most as many as asked for; none when none came in time. With one tenant it takes
 * from its lists, and waits on them when they are empty. With several the first in line has its turn, and when nobody is
 * in line it waits on the lists of those that most recently had jobs, until the next look is due.
 */
export function idSource({ deps, served, line, poll_timeout_seconds, freeOf }: IdSourceParts, stop: AbortSignal) {
  const poll_ms = poll_timeout_seconds * 1_000;
  const lastQueueOf = new Map<string, string>();

  /** A tenant's queues. The one that gave ids last comes last, so a full queue does not starve the others. */
  const inTurn = (tenant: string): QueueRef[] => {
    const queues = served.queuesOf([tenant]);
    const last = lastQueueOf.get(tenant);
    const first = queues.findIndex(({ queue }) => queue === last) + 1;
    return [...queues.slice(first), ...queues.slice(0, first)];
  };
  const wait = (queues: readonly QueueRef[], timeout_ms: number, changed: AbortSignal) =>
    deps.signal.wait(queues, timeout_ms, AbortSignal.any([stop, changed]));
  const idsOf = ({ id }: Woken): string[] => (id === wakeMark ? [] : [id]);
  /** From all of these queues, or from the first that has some, for as many as it has slots of its own. */
  const takeFrom = async (queues: readonly QueueRef[], ids_max: number): Promise<Taken> => {
    if (!freeOf) return deps.signal.take(queues, ids_max);
    for (const ref of queues) {
      const taken = await deps.signal.take([ref], Math.min(ids_max, freeOf(ref.queue)));
      if (taken.ids.length > 0) return taken;
    }
    return { ids: [], from: [] };
  };
  const take = async (tenant: string, ids_max: number): Promise<Pick<NextIds, "ids" | "queues">> => {
    const { ids, from } = await takeFrom(inTurn(tenant), ids_max);
    const last = from.at(-1)?.queue;
    if (lastQueueOf.size >= lists_max) lastQueueOf.clear();
    if (last !== undefined) lastQueueOf.set(tenant, last);
    return { ids, queues: from.map(({ queue }) => queue) };
  };
  let in_bursts = true;
  /** What came with the id that ended a wait shares its claim. Where ids last came alone, none waits for that look. */
  const allOf = async (woken: Woken, ids_max: number): Promise<string[]> => {
    const ids = idsOf(woken);
    const more = Math.min(ids_max, freeOf?.(woken.queue.queue) ?? ids_max) - ids.length;
    if (stop.aborted || more <= 0 || (ids.length > 0 && !in_bursts)) return ids;
    // An id that was popped is claimed, even if Redis is lost here.
    const taken = await deps.signal.take([woken.queue], more).catch(() => undefined);
    in_bursts = taken !== undefined && taken.ids.length > 0;
    return [...ids, ...(taken?.ids ?? [])];
  };

  const ofOne = async (tenant: string, ids_max: number, changed: AbortSignal): Promise<NextIds> => {
    const taken = await take(tenant, ids_max);
    in_bursts ||= taken.ids.length > 0;
    const woken = taken.ids.length > 0 ? undefined : await wait(inTurn(tenant), poll_ms, changed);
    if (!woken) return { tenant, ...taken, others: false };
    return { tenant, ids: await allOf(woken, ids_max), queues: [woken.queue.queue], others: false };
  };

  /** From the first tenant in line that has ids. Another worker, or our last claim, may have taken them. */
  const ofLine = async (ids_max: number): Promise<NextIds | undefined> => {
    for (let tenant = line.first(); tenant !== undefined && !stop.aborted; tenant = line.first()) {
      // If this rejects, the tenant is still the first.
      const taken = await take(tenant, ids_max);
      line.leave(tenant);
      if (taken.ids.length === 0) continue;
      line.taken(tenant, taken.ids.length === ids_max || freeOf !== undefined);
      served.hasJobs(tenant);
      return { tenant, ...taken, others: true };
    }
    return undefined;
  };

  const ofMany = async (ids_max: number, changed: AbortSignal): Promise<NextIds> => {
    const queues_each = served.open().length;
    const tenants = served.tenants();
    const all_named = tenants.length * queues_each <= lists_max;
    // A look is quick, unless PostgreSQL is slow or away: the ids that come meanwhile don't wait for it.
    if (line.lookInMs(all_named) === 0) await Promise.race([line.look(), pause(look_ms_patient, stop)]);
    const taken = await ofLine(ids_max);
    if (taken) return taken;
    const recent = tenants.slice(-Math.max(1, Math.floor(lists_max / queues_each)));
    const queues = recent.flatMap(inTurn).slice(0, lists_max);
    const look_ms = line.lookInMs(all_named);
    if (look_ms <= waitMsMin(queues.length)) {
      await pause(look_ms, stop);
      return none;
    }
    const looked = new AbortController();
    void line.looking()?.then(() => looked.abort());
    const woken = await wait(queues, Math.min(poll_ms, look_ms), AbortSignal.any([changed, looked.signal]));
    if (!woken) return none;
    line.taken(woken.queue.tenant, true);
    served.hasJobs(woken.queue.tenant);
    return { tenant: woken.queue.tenant, ids: await allOf(woken, ids_max), queues: [woken.queue.queue], others: true };
  };

  return async (ids_max: number): Promise<NextIds> => {
    // Before anything is awaited: a tenant that joins meanwhile ends the wait that it is not in.
    const changed = served.changed();
    const [only, other] = served.tenants();
    const lists = served.open().length;
    if (only === undefined || lists === 0) return none;
    return other === undefined && lists <= lists_max ? ofOne(only, ids_max, changed) : ofMany(ids_max, changed);
  };
}
