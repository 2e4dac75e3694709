import type { QueueRef } from "../../deps.ts";
import { queueKeys } from "../keys.ts";
import type { RedisLink } from "./link.ts";
import { SignalUnavailableError, type Signal, type Woken } from "../signal.ts";
import { ready, unavailable } from "./available.ts";
import { dialAnew } from "./dial.ts";
import type { Opened } from "./servers.ts";

/**
 * Waits for a push to any of some queues. A blocking pop may name the keys of one slot only, so in a cluster there is
 * one for each slot that the queues are in, and the first to end ends the others.
 */
export function redisWait(link: RedisLink, timeout_ms: number): Signal["wait"] {
  /** By slot. Connections of their own, as a blocking pop holds up whatever is sent after it. */
  const opened = new Map<number, BlockingConnection>();
  const connection = (list: string): BlockingConnection => {
    const slot = link.slotOf(list);
    let blocking = opened.get(slot);
    if (!blocking) opened.set(slot, (blocking = blockingConnection(link.open("blocking", list), timeout_ms)));
    return blocking;
  };

  /** Several may have popped before they heard of each other. They go back to where the next ones are taken. */
  const putBack = async (popped: readonly [string, string][]): Promise<void> => {
    for (const [list, id] of popped) await link.available(list, () => link.commands.rpush(list, id)).catch(() => {});
  };

  return async (queues, wait_ms, stop): Promise<Woken | undefined> => {
    const byList = new Map<string, QueueRef>(queues.map((queue) => [queueKeys(link.keys, queue).list, queue]));
    await link.usable([...byList.keys()]);
    const troubled = link.troubled();
    const one = new AbortController();
    const ended = AbortSignal.any([stop, troubled, one.signal]);
    const pops = [...Map.groupBy(byList.keys(), link.slotOf).values()].map((lists) =>
      connection(lists[0] as string)
        .pop(lists, wait_ms, ended)
        .finally(() => one.abort()),
    );
    const ends = await Promise.allSettled(pops);
    const [popped, ...more] = ends.flatMap((end) => (end.status === "fulfilled" && end.value ? [end.value] : []));
    await putBack(more);
    if (popped) return { queue: byList.get(popped[0]) as QueueRef, id: popped[1] };
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    if (troubled.aborted && !stop.aborted) {
      await link.usable([...byList.keys()]);
      throw new SignalUnavailableError("the connection to Redis was lost");
    }
    return undefined;
  };
}

/** How much later than its own timeout a blocking pop may answer before its connection is presumed dead. */
const late_ms_max = 1_000;
/** How long a wait allows for a connection being made; a command allows less. */
const ready_ms_max = 1_000;
/** How long a pop may take to end once it is stopped. */
const unblock_ms_max = 200;
/** The order to end can overtake the pop itself, so it is repeated. */
const unblock_again_ms = 10;

type BlockingConnection = {
  /** The list and the popped element, or undefined when time ran out or `stop` aborted. */
  pop(lists: readonly string[], timeout_ms: number, stop: AbortSignal): Promise<[string, string] | undefined>;
};

/**
 * A connection for blocking pops alone, as a pop holds up whatever is sent after it. CLIENT UNBLOCK on the other
 * connection ends a pop early, so that anything popped at that very moment is answered, not lost with a broken socket.
 * `command_ms_max` is how long a command of the other connection may take.
 */
function blockingConnection({ redis, unblock: end }: Opened, command_ms_max: number): BlockingConnection {
  let own_id: Promise<number | undefined> | undefined;
  redis.on("close", () => (own_id = undefined));
  return {
    async pop(lists, timeout_ms, stop) {
      if (redis.status !== "ready")
        await ready(redis, Math.min(timeout_ms, Math.max(ready_ms_max, command_ms_max)), stop);
      if (stop.aborted) return undefined;
      const hangUp = () => dialAnew(redis);
      const timers: NodeJS.Timeout[] = [setTimeout(hangUp, timeout_ms + late_ms_max)];
      const id = (own_id ??= redis.client("ID").catch(() => undefined));
      const order = () => id.then((own) => (own === undefined ? undefined : end(own))).catch(() => {});
      const unblock = () => {
        timers.push(setTimeout(hangUp, unblock_ms_max), setInterval(order, unblock_again_ms));
        void order();
      };
      stop.addEventListener("abort", unblock, { once: true });
      try {
        return (await redis.blpop([...lists], timeout_ms / 1_000)) ?? undefined;
      } catch (error) {
        if (isElsewhere(error)) hangUp();
        if (stop.aborted) return undefined;
        throw unavailable(error);
      } finally {
        for (const timer of timers) clearTimeout(timer);
        stop.removeEventListener("abort", unblock);
      }
    },
  };
}

/** The lists are on another server of the cluster by now, or on none: the connection follows them. */
const isElsewhere = (error: unknown) => error instanceof Error && /^(MOVED|ASK|CLUSTERDOWN)\b/.test(error.message);
