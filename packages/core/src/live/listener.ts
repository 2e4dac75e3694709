import { jobStatuses, type LiveEvent } from "@atlasqueue/contract";
import type { LiveLook } from "./look.ts";

/** An event with its data as JSON. */
export type LiveEventText = { event: LiveEvent["event"]; data: string };

/** Jobs in one event. */
const finished_max = 100;

/** What one listener has received, and what a look has for it that is new. */
export function createListener(tenant: string, queues: ReadonlySet<string> | undefined, first_queues: number) {
  let sent: string | undefined;
  const toldOf = new Map<string, string>();
  return {
    tenant,
    queues,
    /** `more`: not every finished job was looked at. */
    newIn({ at, totals, queues: all, finished }: LiveLook, more: boolean): LiveEventText[] {
      const events: LiveEventText[] = [];
      const counts = totals.get(tenant) ?? none;
      const mine = all.get(tenant) ?? new Map<string, string>();
      // Others of the tenant follow queues by name; without names it is the first ones.
      const shown = queues ? [...queues] : [...mine.keys()].slice(0, first_queues);
      const changed = shown.flatMap((queue) => {
        const text = mine.get(queue);
        if (text === undefined || toldOf.get(queue) === text) return [];
        toldOf.set(queue, text);
        return [text];
      });
      const moved = changed.length > 0 || counts !== sent;
      if (moved)
        events.push({
          event: "counts",
          data: `{"at":${time(at)},"counts":${counts},"queues":[${changed.join(",")}]}`,
        });
      sent = counts;
      // A queue that is not among the first any more, and comes back, is sent again.
      const still = new Set(shown);
      for (const queue of toldOf.keys()) if (!still.has(queue)) toldOf.delete(queue);
      const own = finished.get(tenant) ?? [];
      // Another tenant's many may have pushed them out.
      if (own.length > 0 || (more && moved)) {
        const items = own.slice(0, finished_max).join(",");
        const others = more || own.length > finished_max;
        events.push({ event: "finished", data: `{"at":${time(at)},"items":[${items}],"more":${others}}` });
      }
      return events;
    },
  };
}
export type Listener = ReturnType<typeof createListener>;

const time = (at: Date) => JSON.stringify(at);
const none = JSON.stringify(Object.fromEntries(jobStatuses.map((status) => [status, 0])));
