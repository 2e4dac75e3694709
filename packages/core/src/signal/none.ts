import { localPermits } from "../policy/rate-limit.ts";
import type { Signal } from "./signal.ts";

/**
 * No signal at all: for a process that submits jobs and shares neither Redis nor its memory with a worker. The workers'
 * sweep finds the jobs.
 *
 * @example
 * const signal = noSignal();
 */
export function noSignal(): Signal {
  const draw = localPermits();
  return {
    heard: false,
    push: async () => 0,
    pushFront: async () => 0,
    take: async () => [],
    wait: async () => [],
    look: async () => ({ length: 0, next: undefined, overflowed: false }),
    endOverflow: async () => {},
    takeTurn: async () => true,
    takePermits: async (name, costs, rate) => draw(name, costs, rate),
    deadLetters: {
      add: async () => 0,
      remove: async () => 0,
      page: async () => [],
      look: async () => ({ length: 0, consistent: true, cursor: undefined }),
      setCursor: async () => {},
      clear: async () => {},
    },
    state: () => "up",
    close: async () => {},
  };
}
