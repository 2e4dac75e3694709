import type { QueueRef } from "../../deps.ts";
import { blockingConnection, type BlockingConnection } from "./blocking-connection.ts";
import { queueKeys } from "../keys.ts";
import type { RedisLink } from "./link.ts";
import { SignalUnavailableError, type Signal, type Woken } from "../signal.ts";

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
