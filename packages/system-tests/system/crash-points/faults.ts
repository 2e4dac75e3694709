import { setTimeout as delay } from "node:timers/promises";
import type { Reach } from "./ports.ts";

/** What happens at a point: the process is killed there, the answer is lost, or it comes late. */
export type Action = "kill" | "throw" | "delay";

/** Longer than a transaction of ours may stand still on the server (2 s), shorter than a lease or a deadline. */
const late_ms = 2_500;

export type Fault = { reach: Reach; reached(): boolean };

/**
 * A fault at the first passage of a point, and at no other.
 *
 * @example
 * const fault = faultAt("settle/settle:after_commit", "kill");
 */
export function faultAt(point: string, action: Action): Fault {
  let reached = false;
  return {
    reached: () => reached,
    async reach(passed, lost) {
      if (passed !== point || reached) return;
      reached = true;
      switch (action) {
        case "kill":
          process.kill(process.pid, "SIGKILL");
          return new Promise<never>(() => {});
        case "throw":
          throw lost;
        case "delay":
          await delay(late_ms);
          return;
        default:
          return action satisfies never;
      }
    },
  };
}
