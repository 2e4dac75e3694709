import type { QueueRef } from "../../deps.ts";
import type { Woken } from "../signal.ts";
import type { Call } from "./messages.ts";

/** Calls whose ids are kept, and calls whose answers may still come: what is beyond, the sweep finds. */
const calls_max = 1_000;

type Taking = Extract<Call, { method: "take" | "wait" }>;

/**
 * Ids that are taken off a list for a call that has been given up, as its host stood still: the next take from these
 * queues gets them, for otherwise their jobs would wait for the sweep, while later ones run.
 */
export function lateIds() {
  const calls = new Map<number, Taking>();
  let kept: { queues: readonly QueueRef[]; ids: string[] }[] = [];
  return {
    /** The host may come to it all the same. */
    gaveUp(id: number, call: Call): void {
      if (call.method !== "take" && call.method !== "wait") return;
      calls.set(id, call);
      if (calls.size > calls_max) calls.delete(calls.keys().next().value ?? id);
    },
    /** `value` as the call would have resolved with; undefined when the host failed. */
    answered(id: number, value: unknown): void {
      const call = calls.get(id);
      calls.delete(id);
      if (!call || value === undefined) return;
      if (call.method === "take") kept.push({ queues: call.given[0], ids: value as string[] });
      else kept.push({ queues: [(value as Woken).queue], ids: [(value as Woken).id] });
      if (kept.length > calls_max) kept.shift();
    },
    take(queues: readonly QueueRef[], ids_max: number): string[] {
      const names = new Set(queues.map(nameOf));
      const ids: string[] = [];
      for (const one of kept)
        if (one.queues.every((queue) => names.has(nameOf(queue)))) ids.push(...one.ids.splice(0, ids_max - ids.length));
      kept = kept.filter((one) => one.ids.length > 0);
      return ids;
    },
  };
}

const nameOf = ({ tenant, queue }: QueueRef) => JSON.stringify([tenant, queue]);
