import { jobStatuses, type LiveEvent } from "@atlasqueue/contract";
import type { Counts, LiveLook } from "./look.ts";

/** Jobs in one event. */
const finished_max = 100;

/** What one listener has been told, and what a look has for it that is new. */
export function createListener(tenant: string, queues: ReadonlySet<string> | undefined, first_queues: number) {
  let told: string | undefined;
  const toldOf = new Map<string, string>();
  return {
    tenant,
    queues,
    /** `more`: not every finished job was looked at. */
    newIn({ at, totals, queues: all, finished }: LiveLook, more: boolean): LiveEvent[] {
      const events: LiveEvent[] = [];
      const counts = totals.get(tenant) ?? none();
      const mine = all.get(tenant) ?? new Map<string, Counts>();
      // Others of the tenant follow queues by name; without names it is the first ones.
      const shown = queues ? [...queues] : [...mine.keys()].slice(0, first_queues);
      const changed = shown.flatMap((queue) => {
        const row = mine.get(queue);
        if (!row) return [];
        const text = JSON.stringify(countsOf(row));
        if (toldOf.get(queue) === text) return [];
        toldOf.set(queue, text);
        return [{ queue, counts: countsOf(row) }];
      });
      const text = JSON.stringify(counts);
      const moved = changed.length > 0 || text !== told;
      if (moved) events.push({ event: "counts", data: { at: at.toISOString(), counts, queues: changed } });
      told = text;
      // A queue that is not among the first any more, and comes back, is told again.
      const still = new Set(shown);
      for (const queue of toldOf.keys()) if (!still.has(queue)) toldOf.delete(queue);
      const own = finished.filter((one) => one.tenant === tenant);
      // Another tenant's many may have pushed them out.
      if (own.length > 0 || (more && moved)) {
        const items = own.slice(0, finished_max).map(({ tenant: _tenant, ...job }) => job);
        events.push({
          event: "finished",
          data: { at: at.toISOString(), items, more: more || own.length > finished_max },
        });
      }
      return events;
    },
  };
}
export type Listener = ReturnType<typeof createListener>;

/** A fold that was interrupted may leave a count below zero for a moment; nobody is told of that. */
const countsOf = (row: Counts): Counts =>
  Object.fromEntries(jobStatuses.map((status) => [status, Math.max(0, row[status])])) as Counts;
const none = (): Counts => Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Counts;
