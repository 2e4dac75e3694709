import { localPermits } from "./token-bucket.ts";
import { SignalUnavailableError, type Signal } from "./signal.ts";

const nothing = () => Promise.reject(new SignalUnavailableError("there is no signal: REDIS_URL is not set"));

/**
 * No signal at all: for a process that submits jobs and shares neither Redis nor its memory with a worker. The workers'
 * sweep finds the jobs. A worker without Redis takes `memorySignal()`: on this one it cannot wait, and asks Postgres again
 * and again, as when Redis is away.
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
    setMarked: async () => {},
    take: nothing,
    wait: nothing,
    look: async () => ({ length: 0, next: undefined, overflowed: false, marked: false }),
    endOverflow: async () => {},
    takeTurn: async () => true,
    takePermits: async (name, costs, rate) => draw(name, costs, rate),
    deadLetters: {
      add: async () => 0,
      remove: async () => 0,
      page: async () => [],
      look: async () => ({ length: 0, consistent: true, cursor: undefined }),
      carryOn: async () => 0,
      clear: async () => {},
    },
    notices: { tell: async () => {}, listen: () => () => {} },
    presence: { announce: async () => {}, withdraw: async () => {}, list: nothing },
    state: () => "up",
    check: async () => {},
    close: async () => {},
  };
}
