import type { QueueRef } from "../../deps.ts";
import { localPermits } from "../token-bucket.ts";
import { defaultKeys, queueKeys } from "../keys.ts";
import { createIdList, type IdList } from "./id-list.ts";
import { memoryNotices } from "../notices.ts";
import { memoryPresence } from "../presence.ts";
import { signals_max, type DeadLetterList, type ReadyJob, type Signal } from "../signal.ts";

type Lists = {
  ids: IdList;
  overflowed: boolean;
  /** It keeps one id at most, of ordinary priority. */
  marked: boolean;
};

/** Queues whose lists are kept though they are empty: making them anew for each job takes time. */
const kept_max = 1_000;

export type MemorySignalOptions = {
  /** Ids in one list at most. Default 1,000,000. */
  signalsMax?: number | undefined;
};

/**
 * Signals within one process: for the whole system in a single process without Redis. Jobs of other processes are
 * found by the sweep.
 *
 * @example
 * const signal = memorySignal();
 */
export function memorySignal({ signalsMax = signals_max }: MemorySignalOptions = {}): Signal {
  const queues = new Map<string, Lists>();
  const turns = new Map<string, number>();
  const waiters = new Set<() => void>();
  const draw = localPermits();

  const keyOf = (queue: QueueRef) => queueKeys(defaultKeys, queue).list;
  /** A list is made by a push alone, as callers may ask for any name. */
  const listsOf = (queue: QueueRef): Lists => {
    const key = keyOf(queue);
    let lists = queues.get(key);
    if (!lists) queues.set(key, (lists = emptyLists()));
    return lists;
  };
  const lookAt = (queue: QueueRef): Lists | undefined => queues.get(keyOf(queue));
  const lengthAt = (queue: QueueRef): number => lookAt(queue)?.ids.length() ?? 0;
  const wake = () => {
    for (const waiter of waiters) waiter();
  };

  const takeFrom = (queue: QueueRef, ids_max: number): string[] => {
    const ids = lookAt(queue)?.ids.take(ids_max) ?? [];
    forgetEmpty(queue);
    return ids;
  };
  const forgetEmpty = (queue: QueueRef): void => {
    const lists = queues.size > kept_max ? lookAt(queue) : undefined;
    if (lists && !lists.marked && !lists.overflowed && lists.ids.length() === 0) queues.delete(keyOf(queue));
  };

  return {
    heard: true,
    async push(jobs) {
      let taken = 0;
      for (const job of jobs) {
        const lists = listsOf(job);
        if (lists.marked) {
          mark(lists, job);
          taken += 1;
          continue;
        }
        if (lists.ids.length() >= signalsMax) lists.overflowed = true;
        if (lists.overflowed) continue;
        lists.ids.push(job);
        taken += 1;
      }
      wake();
      return taken;
    },
    async pushFront(jobs) {
      let missing = 0;
      for (const job of jobs.toReversed()) {
        const lists = listsOf(job);
        if (lists.marked ? mark(lists, job) : lists.ids.pushFront(job)) missing += 1;
      }
      wake();
      return missing;
    },
    async setMarked({ tenant, queue }, marked) {
      Object.assign(listsOf({ tenant, queue }), emptyLists(), { marked });
      forgetEmpty({ tenant, queue });
    },
    async take(wanted, ids_max) {
      const ids: string[] = [];
      for (const queue of wanted) ids.push(...takeFrom(queue, ids_max - ids.length));
      return ids;
    },
    async wait(wanted, timeout_ms, stop) {
      const any = () => wanted.some((queue) => lengthAt(queue) > 0);
      if (!any() && !stop.aborted) await woken(waiters, any, timeout_ms, stop);
      if (stop.aborted) return undefined;
      for (const queue of wanted) {
        const [id] = takeFrom(queue, 1);
        if (id !== undefined) return { queue, id };
      }
      return undefined;
    },
    async look(queue) {
      const { ids, overflowed = false, marked = false } = lookAt(queue) ?? {};
      return { length: ids?.length() ?? 0, next: ids?.next(), overflowed, marked };
    },
    async takeTurn(name, period_ms) {
      const now = performance.now();
      if ((turns.get(name) ?? -Infinity) > now) return false;
      turns.set(name, now + period_ms);
      return true;
    },
    takePermits: async (name, costs, rate) => draw(name, costs, rate),
    deadLetters: memoryDeadLetters(),
    notices: memoryNotices(),
    presence: memoryPresence(),
    state: () => "up",
    check: async () => {},
    async close() {
      wake();
    },
  };
}

function emptyLists(): Lists {
  return { ids: createIdList(), overflowed: false, marked: false };
}

/** Whether it was not there. */
function mark({ ids }: Lists, job: ReadyJob): boolean {
  if (ids.length() > 0) return false;
  return ids.pushFront({ ...job, priority: 0 });
}

function woken(waiters: Set<() => void>, any: () => boolean, timeout_ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      waiters.delete(pushed);
      stop.removeEventListener("abort", end);
      resolve();
    };
    const pushed = () => {
      if (any()) end();
    };
    const timer = setTimeout(end, timeout_ms);
    waiters.add(pushed);
    stop.addEventListener("abort", end, { once: true });
  });
}

function memoryDeadLetters(): DeadLetterList {
  const ids = new Set<string>();
  let cursor: string | undefined;
  const count = (change: (id: string) => boolean) => async (changed: readonly string[]) =>
    changed.filter(change).length;
  const add = count((id) => !ids.has(id) && Boolean(ids.add(id)));
  return {
    add,
    remove: count((id) => ids.delete(id)),
    page: async (offset, ids_max) => [...ids].toReversed().slice(offset, offset + ids_max),
    look: async () => ({ length: ids.size, consistent: true, cursor }),
    async carryOn(stretch, from, to) {
      if (cursor !== from) return "elsewhere";
      cursor = to;
      return add(stretch);
    },
    async clear() {
      ids.clear();
      cursor = undefined;
    },
  };
}
