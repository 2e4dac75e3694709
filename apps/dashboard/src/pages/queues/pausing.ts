import type { Queue } from "@atlasqueue/contract";
import { useAct } from "../../api/act.ts";
import { client } from "../../api/client.ts";
import { everyQueueKey, oneQueueKey, queuesKey } from "../../api/queues.ts";

/** Pause and resume, shown at once. */
export function usePausing() {
  const shown = (queue: string, paused: boolean) => [
    { key: queuesKey, to: (all: Queue[]) => all.map((each) => (each.queue === queue ? { ...each, paused } : each)) },
    { key: oneQueueKey(queue), to: (one: Queue | null) => one && { ...one, paused } },
  ];
  return {
    pause: useAct({
      send: (queue: string) => client.pause(queue),
      expect: (queue) => shown(queue, true),
      what: "pause the queue",
      done: (_, queue) => `${queue} is paused: running jobs go on, none are started`,
      touches: [queuesKey, everyQueueKey, ["overview"]],
    }),
    resume: useAct({
      send: (queue: string) => client.resume(queue),
      expect: (queue) => shown(queue, false),
      what: "resume the queue",
      done: (_, queue) => `${queue} runs again`,
      touches: [queuesKey, everyQueueKey, ["overview"]],
    }),
  };
}
