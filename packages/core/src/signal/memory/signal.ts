import { z } from "zod";
import type { QueueRef } from "../../deps.ts";
import {
  memoryNotices,
  wakeMark,
  type DeadLetterList,
  type ReadyJob,
  type Signal,
  type Woken,
  SignalUnavailableError,
} from "../signal.ts";
import { memoryPresence, workerFacts } from "../presence.ts";
import { localPermits } from "../token-bucket.ts";

const queue = z.object({ tenant: z.string(), queue: z.string() });
const worker = z.object({ tenant: z.string(), id: z.string() });
/** What processes send each other. Code that a process runs may forge it, and each may be lost. */
const hint = z.discriminatedUnion("hint", [
  z.object({ hint: z.literal("ready"), queues: z.array(queue) }),
  z.object({ hint: z.literal("notice"), topic: z.enum(["finished", "cancelled"]), ids: z.array(z.string()) }),
  z.object({ hint: z.literal("worker"), worker: workerFacts.extend(worker.shape) }),
  z.object({ hint: z.literal("worker_left"), worker }),
]);
type Hint = z.infer<typeof hint>;

export type MemorySignal = Signal & {
  /** Exchange hints with another process, which `send` reaches. It forwards them to the other processes it knows. */
  join(send: (hint: Hint) => void): {
    /** Whether a message from that process was a hint. */
    hear(message: unknown): boolean;
    leave(): void;
  };
};

/** Returns whether it waited for this queue. */
type Waiter = (queue: QueueRef) => boolean;

const nameOf = (one: QueueRef) => JSON.stringify([one.tenant, one.queue]);

/** Marks kept until a worker waits for their queues. What is beyond, the sweep finds. */
const marks_max = 10_000;

/**
 * Wake-up marks without Redis: "something is ready in this queue". It hands out no ids: a woken worker claims the oldest.
 * Processes may join: then marks, notices and the list of workers cross. The rest is each process's own. Jobs of processes
 * that have not joined are found by the sweep.
 *
 * @example
 * const signal = memorySignal();
 * const parent = signal.join((hint) => channel.send(hint));
 */
export function memorySignal(): MemorySignal {
  const notices = memoryNotices();
  const presence = memoryPresence();
  const draw = localPermits();
  /** Until when each turn is taken. */
  const turns = new Map<string, number>();
  const peers = new Set<(hint: Hint) => void>();
  /** Names of queues. */
  const marks = new Set<string>();
  const waiters = new Set<Waiter>();

  /** Wakes all that wait for the queue: those that come too late claim nothing. */
  const mark = ({ tenant, queue: name }: QueueRef): void => {
    const ready = { tenant, queue: name };
    let woken = 0;
    for (const wake of waiters) if (wake(ready)) woken += 1;
    if (woken === 0 && marks.size < marks_max) marks.add(nameOf(ready));
  };
  const act = (heard: Hint): unknown => {
    switch (heard.hint) {
      case "ready":
        return heard.queues.forEach(mark);
      case "notice":
        return notices.tell(heard.topic, heard.ids);
      case "worker":
        return presence.announce(heard.worker);
      case "worker_left":
        return presence.withdraw(heard.worker);
      default:
        return heard satisfies never;
    }
  };
  const tell = async (said: Hint, from?: (hint: Hint) => void): Promise<void> => {
    for (const send of peers) if (send !== from) send(said);
    await act(said);
  };
  const ready = async (jobs: readonly ReadyJob[]): Promise<number> => {
    const queues = new Map(jobs.map((job) => [nameOf(job), { tenant: job.tenant, queue: job.queue }]));
    if (queues.size > 0) await tell({ hint: "ready", queues: [...queues.values()] });
    return jobs.length;
  };

  return {
    heard: true,
    marks_only: true,
    push: ready,
    pushFront: ready,
    setMarked: async (one) => void marks.delete(nameOf(one)),
    take: async () => ({ ids: [], from: [] }),
    async wait(queues, timeout_ms, stop) {
      const marked = queues.find((one) => marks.delete(nameOf(one)));
      if (marked || stop.aborted) return marked && { queue: marked, id: wakeMark };
      return nextMark(waiters, new Set(queues.map(nameOf)), timeout_ms, stop);
    },
    look: async (one) => ({
      length: marks.has(nameOf(one)) ? 1 : 0,
      next: undefined,
      overflowed: false,
      marked: true,
    }),
    async takeTurn(name, period_ms) {
      const now = performance.now();
      if ((turns.get(name) ?? -Infinity) > now) return false;
      turns.set(name, now + period_ms);
      return true;
    },
    takePermits: async (name, costs, rate) => draw(name, costs, rate),
    deadLetters: noDeadLetters,
    notices: { ...notices, tell: (topic, ids) => tell({ hint: "notice", topic, ids: [...ids] }) },
    presence: {
      ...presence,
      announce: (one) => tell({ hint: "worker", worker: one }),
      withdraw: ({ tenant, id }) => tell({ hint: "worker_left", worker: { tenant, id } }),
    },
    state: () => "up",
    check: async () => {},
    close: async () => {},
    join(send) {
      peers.add(send);
      return {
        hear(message) {
          const heard = hint.safeParse(message);
          if (heard.success) void tell(heard.data, send);
          return heard.success;
        },
        leave: () => void peers.delete(send),
      };
    },
  };
}

function nextMark(
  waiters: Set<Waiter>,
  names: ReadonlySet<string>,
  timeout_ms: number,
  stop: AbortSignal,
): Promise<Woken | undefined> {
  return new Promise((resolve) => {
    const end = (woken?: Woken) => {
      clearTimeout(timer);
      waiters.delete(wake);
      stop.removeEventListener("abort", stopped);
      resolve(woken);
    };
    const stopped = () => end();
    const wake: Waiter = (one) => {
      const wanted = names.has(nameOf(one));
      if (wanted) end({ queue: one, id: wakeMark });
      return wanted;
    };
    const timer = setTimeout(stopped, timeout_ms);
    waiters.add(wake);
    stop.addEventListener("abort", stopped, { once: true });
  });
}

/** The list is for people who look into Redis. */
const noDeadLetters: DeadLetterList = {
  add: async () => 0,
  remove: async () => 0,
  page: async () => [],
  look: async () => ({ length: 0, consistent: true, cursor: undefined }),
  carryOn: async () => 0,
  clear: async () => {},
};

const nothing = () => Promise.reject(new SignalUnavailableError("there is no signal: REDIS_URL is not set"));

/**
 * No signal at all: for a process that submits jobs and shares neither Redis nor its memory with a worker. The workers'
 * sweep finds the jobs. A worker without Redis takes `memorySignal()`: with this one it can't wait for wake-ups, and polls
 * PostgreSQL, as when Redis is down.
 *
 * @example
 * const signal = noSignal();
 */
export function noSignal(): Signal {
  const { marks_only: _, ...own } = memorySignal();
  return {
    ...own,
    heard: false,
    push: async () => 0,
    pushFront: async () => 0,
    setMarked: async () => {},
    take: nothing,
    wait: nothing,
    takeTurn: async () => true,
    presence: { announce: async () => {}, withdraw: async () => {}, list: nothing },
  };
}
