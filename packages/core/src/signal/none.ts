import { memorySignal } from "./memory/signal.ts";
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
  const { marks_only: _, ...own } = memorySignal();
  return {
    ...own,
    heard: false,
    push: async () => 0,
    pushFront: async () => 0,
    setMarked: async () => {},
    take: nothing,
    wait: nothing,
    takeTurn: async () => true,
    presence: { announce: async () => {}, withdraw: async () => {}, list: nothing },
  };
}
