import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import { createQueueLines } from "../queues/queue-lines.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { createOfferInTurns } from "./offer.ts";

/** Signalled at once when groups end taking turns; the sweep signals the others when these are taken. */
const signalled_anew_max = 10_000;

/**
 * What follows when the groups of queues begin to take turns, or end it: their jobs are signalled anew. Of several changes
 * of a queue the last one counts, and a tenant's are made one after another, in its share: otherwise whoever changes them
 * over and over would have everybody wait for thousands of signals.
 *
 * @example
 * const changeTurns = createTurnsChanger(deps);
 * await changeTurns({ tenant: "default", queue: "mail" }, "begin");
 */
export function createTurnsChanger(deps: Deps & { signal: Signal }) {
  const last = new Map<string, "begin" | "end">();
  const nameOf = ({ tenant, queue }: QueueRef) => JSON.stringify([tenant, queue]);
  const inLine = createQueueLines(async (queue) => {
    const turns = last.get(nameOf(queue));
    last.delete(nameOf(queue));
    const own = { ...deps, database: onBehalfOf(deps.database, { tenant: queue.tenant }) };
    if (turns === "begin") return void (await createOfferInTurns(own)(queue));
    await deps.signal.setTurns(queue, false);
    await announce(deps, await readyJobs(own, queue, 0, signalled_anew_max), "front");
  });
  /** Resolves when it was made; at once if somebody else waits for that. */
  return (queue: QueueRef, turns: "begin" | "end"): Promise<void> => {
    last.set(nameOf(queue), turns);
    return inLine(queue);
  };
}
