import { createShares, limits } from "@atlasqueue/contract";
import { isUuid } from "../database/literals.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { takeOrThrow } from "../shares.ts";
import type { Signal } from "../signal/signal.ts";
import { createListener, type Listener, type LiveEventText } from "./listener.ts";
import { liveLook } from "./look.ts";

export type LiveEvents = {
  /**
   * From now on `hear` receives what changes, once a second at most, and at first how things are. Call the result to stop.
   * Throws `NoRoomError` when too many listen.
   */
  listen(
    of: { tenant: string; queues?: readonly string[] | undefined },
    hear: (event: LiveEventText) => void,
  ): () => void;
  /** Tells all listeners that it ends, and takes no more. */
  close(): void;
};

const look_ms = 1_000;
const draining: LiveEventText = { event: "end", data: '{"reason":"draining"}' };
/** Of one process, with the usual shares of its tenants. */
const listeners_max = 200;
/** Finished jobs looked at in one question, the newest: of a flood, people see a part. */
const ids_max = 1_000;

/**
 * Tells those who watch what changes: the counts of queues, and the jobs that finish. One question a second for all
 * listeners of a process, and none without listeners. Which jobs to ask about is learned from the notices; without
 * Redis only the counts are sent.
 *
 * @example
 * const stop = live.listen({ tenant: "default" }, (event) => send(event));
 */
export function createLiveEvents(deps: Deps & { signal: Signal }): LiveEvents {
  const listeners = new Map<Listener, (event: LiveEventText) => void>();
  const room = createShares(listeners_max);
  let heard = new Set<string>();
  let missed = false;
  let unlisten: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let looked_at = -Infinity;
  let closed = false;

  const note = (ids: readonly string[]) => {
    for (const id of ids) {
      if (!isUuid(id)) continue;
      heard.add(id);
      if (heard.size <= ids_max) continue;
      missed = true;
      heard.delete(heard.values().next().value ?? "");
    }
  };

  const look = async (): Promise<void> => {
    const asked = [...listeners.keys()];
    const [ids, more] = [[...heard], missed];
    heard = new Set();
    missed = false;
    try {
      const found = await liveLook(deps, { ...questionOf(asked), ids });
      for (const one of asked) for (const event of one.newIn(found, more)) listeners.get(one)?.(event);
    } catch {
      // The database is away: listeners hear nothing until it is back, and pages learn it from their own requests.
      note(ids);
      missed ||= more;
    }
  };
  const schedule = () => {
    if (timer || looking || closed || listeners.size === 0) return;
    const in_ms = Math.max(0, looked_at + look_ms - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      looking = true;
      looked_at = performance.now();
      void look().finally(() => {
        looking = false;
        schedule();
      });
    }, in_ms).unref();
  };
  const stopListening = () => {
    clearTimeout(timer);
    timer = undefined;
    unlisten?.();
    unlisten = undefined;
    heard = new Set();
  };

  return {
    listen({ tenant, queues }, hear) {
      if (closed) {
        hear(draining);
        return () => {};
      }
      takeOrThrow(room, tenant, 1, "listeners to events");
      const listener = createListener(tenant, queues && new Set(queues), limits.event_queues_max);
      listeners.set(listener, hear);
      unlisten ??= deps.signal.notices.listen("finished", note);
      // At once, unless there was a look within the last second.
      schedule();
      return () => {
        if (!listeners.delete(listener)) return;
        room.give(tenant, 1);
        if (listeners.size === 0) stopListening();
      };
    },
    close() {
      closed = true;
      stopListening();
      for (const hear of listeners.values()) hear(draining);
      listeners.clear();
    },
  };
}

function questionOf(listeners: readonly Listener[]) {
  const tenants = new Set(listeners.map(({ tenant }) => tenant));
  const browsed = new Set(listeners.flatMap(({ tenant, queues }) => (queues ? [] : [tenant])));
  const named = new Map<string, QueueRef>();
  for (const { tenant, queues = new Set<string>() } of listeners)
    for (const queue of queues) named.set(JSON.stringify([tenant, queue]), { tenant, queue });
  return {
    tenants: [...tenants],
    browsed: [...browsed],
    named: [...named.values()],
    first_queues: limits.event_queues_max,
  };
}
