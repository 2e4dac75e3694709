import type { QueueRef } from "../deps.ts";
import { defaultKeys, listKey } from "./keys.ts";
import { signals_max, type DeadLetterList, type ReadyJob, type Signal } from "./signal.ts";

type Lists = { plain: Deque; prioritised: ReadyJob[]; overflowed: boolean };

/**
 * Signals within one process: for the whole system in a single process without Redis. Jobs of other processes are
 * found by the sweep.
 *
 * @example
 * const signal = memorySignal();
 */
export function memorySignal(list_length_max: number = signals_max): Signal {
  const queues = new Map<string, Lists>();
  const turns = new Map<string, number>();
  const waiters = new Set<() => void>();

  const listsOf = (queue: QueueRef): Lists => {
    const key = listKey(defaultKeys, queue);
    let lists = queues.get(key);
    if (!lists) queues.set(key, (lists = { plain: deque(), prioritised: [], overflowed: false }));
    return lists;
  };
  const wake = () => {
    for (const waiter of waiters) waiter();
  };
  const prioritise = (lists: Lists, job: ReadyJob) => {
    if (lists.prioritised.some((other) => other.id === job.id)) return;
    lists.prioritised.push(job);
    lists.prioritised.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
  };

  const takeFrom = (lists: Lists, ids_max: number): string[] => {
    const urgent = lists.prioritised.findIndex((job) => job.priority < 0);
    const ids = lists.prioritised
      .splice(0, Math.min(ids_max, urgent === -1 ? lists.prioritised.length : urgent))
      .map((job) => job.id);
    while (ids.length < ids_max && lists.plain.length() > 0) ids.push(lists.plain.shift() as string);
    ids.push(...lists.prioritised.splice(0, ids_max - ids.length).map((job) => job.id));
    return ids;
  };

  return {
    async push(jobs) {
      for (const job of jobs) {
        const lists = listsOf(job);
        if (lists.plain.length() + lists.prioritised.length >= list_length_max) lists.overflowed = true;
        if (lists.overflowed) continue;
        if (job.priority === 0) lists.plain.push(job.id);
        else prioritise(lists, job);
      }
      wake();
    },
    async pushFront(jobs) {
      for (const job of jobs.toReversed()) {
        if (job.priority === 0) listsOf(job).plain.unshift(job.id);
        else prioritise(listsOf(job), job);
      }
      wake();
    },
    async take(wanted, ids_max) {
      const ids: string[] = [];
      for (const queue of wanted) ids.push(...takeFrom(listsOf(queue), ids_max - ids.length));
      return ids;
    },
    async wait(wanted, timeout_ms, stop) {
      const any = () => wanted.some((queue) => listsOf(queue).plain.length() + listsOf(queue).prioritised.length > 0);
      if (!any() && !stop.aborted) await woken(waiters, any, timeout_ms, stop);
      if (stop.aborted) return [];
      for (const queue of wanted) {
        const ids = takeFrom(listsOf(queue), 1);
        if (ids.length > 0) return ids;
      }
      return [];
    },
    async look(queue) {
      const lists = listsOf(queue);
      return {
        length: lists.plain.length() + lists.prioritised.length,
        next: lists.plain.first(),
        overflowed: lists.overflowed,
      };
    },
    async endOverflow(queue) {
      listsOf(queue).overflowed = false;
    },
    async takeTurn(name, period_ms) {
      const now = performance.now();
      if ((turns.get(name) ?? -Infinity) > now) return false;
      turns.set(name, now + period_ms);
      return true;
    },
    deadLetters: memoryDeadLetters(),
    state: () => "up",
    async close() {
      wake();
    },
  };
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
  return {
    add: count((id) => !ids.has(id) && Boolean(ids.add(id))),
    remove: count((id) => ids.delete(id)),
    page: async (offset, ids_max) => [...ids].toReversed().slice(offset, offset + ids_max),
    look: async () => ({ length: ids.size, consistent: true, cursor }),
    async setCursor(value) {
      cursor = value;
    },
    async clear() {
      ids.clear();
      cursor = undefined;
    },
  };
}

type Deque = {
  push(id: string): void;
  unshift(id: string): void;
  shift(): string | undefined;
  first(): string | undefined;
  length(): number;
};

/** Two stacks, so that a backlog of a million ids is not moved at every shift. */
function deque(): Deque {
  let front: string[] = [];
  let back: string[] = [];
  const turnOver = () => {
    if (front.length === 0) [front, back] = [back.reverse(), []];
  };
  return {
    push: (id) => void back.push(id),
    unshift: (id) => void front.push(id),
    shift() {
      turnOver();
      return front.pop();
    },
    first() {
      turnOver();
      return front.at(-1);
    },
    length: () => front.length + back.length,
  };
}
