import { onDeadline } from "../../database/deadline.ts";
import { lateIds } from "./late-ids.ts";
import { fromHost, type Call, type ToHost } from "./messages.ts";
import { listeners } from "../notices.ts";
import type { SeenWorker } from "../presence.ts";
import { SignalUnavailableError, type QueueSignals, type Signal, type Topic, type Woken } from "../signal.ts";
import type { Permit } from "../token-bucket.ts";

export type IpcSignal = Signal & {
  /** Whether a message from the other process was one for the signal. */
  hear(message: unknown): boolean;
};

type Asked = { resolve(value: unknown): void; reject(error: Error): void; stop(): void };
type Given<M extends Call["method"]> = Extract<Call, { method: M }>["given"];

type DeadLook = Awaited<ReturnType<Signal["deadLetters"]["look"]>>;
/** As JSON leaves it: without undefined members. */
type Json<T> = { [K in keyof T]?: T[K] };
const withNone = <T extends object, K extends keyof T>(seen: Json<T>, name: K): T =>
  ({ [name]: undefined, ...seen }) as T;

/**
 * The signal of another process, lent by `hostSignal` over a channel: how a worker in its own process is woken without
 * Redis. The other process only looks into its memory, so after `answer_ms_max` no answer is expected any more; one that
 * is already in the pipe when this process comes to look counts.
 *
 * @example
 * const parent = parentChannel({ hear: (message) => void signal.hear(message) });
 * const signal = ipcSignal(parent);
 */
export function ipcSignal(channel: { send(message: ToHost): void }, answer_ms_max = 5_000): IpcSignal {
  const asked = new Map<number, Asked>();
  const late_ids = lateIds();
  const { tell, listen } = listeners();
  const heeding = new Map<Topic, number>();
  let calls = 0;
  let heard_count = 0;
  let closed = false;
  const say = (message: ToHost) => channel.send(message);

  const ask = <T, M extends Call["method"]>(
    method: M,
    given: Given<M>,
    extra_ms = 0,
  ): { id: number; value: Promise<T> } => {
    const id = (calls += 1);
    const asking = { method, given } as Call;
    const value = new Promise<unknown>((resolve, reject) => {
      if (closed) return reject(new SignalUnavailableError("the signal is closed"));
      const late = () => {
        asked.delete(id);
        late_ids.gaveUp(id, asking);
        // It would get what is pushed, before the next one.
        if (method === "wait") say({ signal: "stop", id });
        reject(
          new SignalUnavailableError(`no answer from the process with the signal in ${answer_ms_max + extra_ms} ms`),
        );
      };
      const stop = onDeadline(answer_ms_max + extra_ms, () => heard_count, late);
      asked.set(id, { resolve, reject, stop });
      say({ signal: "call", id, call: asking });
    });
    return { id, value: value as Promise<T> };
  };
  const call = <T, M extends Call["method"]>(method: M, ...given: Given<M>): Promise<T> =>
    ask<T, M>(method, given).value;
  const settle = (id: number): Asked | undefined => {
    const one = asked.get(id);
    one?.stop();
    asked.delete(id);
    return one;
  };

  return {
    heard: true,
    push: (jobs) =>
      call(
        "push",
        jobs.map(({ tenant, queue, id, priority }) => ({ tenant, queue, id, priority })),
      ),
    pushFront: (jobs) =>
      call(
        "pushFront",
        jobs.map(({ tenant, queue, id, priority }) => ({ tenant, queue, id, priority })),
      ),
    setMarked: ({ tenant, queue }, marked) => call("setMarked", { tenant, queue }, marked),
    async take(queues, ids_max) {
      const ids = late_ids.take(queues, ids_max);
      return ids.length > 0 ? ids : call("take", [...queues], ids_max);
    },
    async wait(queues, timeout_ms, stop) {
      if (stop.aborted) return undefined;
      const { id, value } = ask<Woken | undefined, "wait">("wait", [[...queues], timeout_ms], timeout_ms);
      const stopped = () => say({ signal: "stop", id });
      stop.addEventListener("abort", stopped, { once: true });
      try {
        return await value;
      } finally {
        stop.removeEventListener("abort", stopped);
      }
    },
    look: async (queue) => withNone(await call<Json<QueueSignals>, "look">("look", queue), "next"),
    peek: (queue, ids_max) => call("peek", queue, ids_max),
    skipTo: (queue, id) => call("skipTo", queue, id),
    endOverflow: (queue) => call("endOverflow", queue),
    takeTurn: (name, period_ms) => call("takeTurn", name, period_ms),
    mark: (name, lasts_ms) => call("mark", name, lasts_ms),
    isMarked: (name) => call("isMarked", name),
    takePermits: (name, costs, rate) => call<Permit[], "takePermits">("takePermits", name, [...costs], rate),
    deadLetters: {
      add: (ids) => call("deadLetters.add", [...ids]),
      remove: (ids) => call("deadLetters.remove", [...ids]),
      page: (offset, ids_max) => call("deadLetters.page", offset, ids_max),
      look: async () => withNone(await call<Json<DeadLook>, "deadLetters.look">("deadLetters.look"), "cursor"),
      carryOn: (ids, from, to) => call("deadLetters.carryOn", [...ids], from ?? null, to),
      clear: () => call("deadLetters.clear"),
    },
    notices: {
      tell: (topic, ids) => call("notices.tell", topic, [...ids]),
      listen(topic, hear) {
        const change = (by: number) => {
          const before = heeding.get(topic) ?? 0;
          heeding.set(topic, before + by);
          if (before === 0) say({ signal: "listen", topic });
          if (before + by === 0) say({ signal: "unlisten", topic });
        };
        let over = false;
        const stop = listen(topic, hear);
        change(1);
        return () => {
          if (over) return;
          over = true;
          stop();
          change(-1);
        };
      },
    },
    presence: {
      announce: ({ queues, handlers, ...worker }) =>
        call("presence.announce", { ...worker, queues: [...queues], handlers: [...handlers] }),
      withdraw: ({ tenant, id }) => call("presence.withdraw", { tenant, id }),
      list: async (tenant) =>
        (
          await call<(Omit<SeenWorker, "last_seen"> & { last_seen: string })[], "presence.list">(
            "presence.list",
            tenant,
          )
        ).map((worker) => ({ ...worker, last_seen: new Date(worker.last_seen) })),
    },
    state: () => (closed ? "down" : "up"),
    check: () => call("check"),
    async close() {
      closed = true;
      for (const id of asked.keys()) settle(id)?.reject(new SignalUnavailableError("the signal is closed"));
    },
    hear(heard) {
      const parsed = fromHost.safeParse(heard);
      if (!parsed.success) return false;
      heard_count += 1;
      const message = parsed.data;
      if (message.signal === "notice") tell(message.topic, message.ids);
      else {
        const one = settle(message.id);
        const value = message.signal === "answer" ? message.value : undefined;
        if (!one) late_ids.answered(message.id, value);
        else if (message.signal === "answer") one.resolve(value);
        else one.reject(new SignalUnavailableError(message.reason));
      }
      return true;
    },
  };
}
