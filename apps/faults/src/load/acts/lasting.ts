import { between, type Chance } from "../chance.ts";
import type { TaskInput } from "../task.ts";

/**
 * How long a handler takes: mostly some milliseconds, sometimes a good part of the lease, rarely more than all of it.
 * What is longer than its lease is so at the first attempt only, or it might never end.
 */
export function lasting(random: Chance, lease_ms: number): Partial<TaskInput> {
  const drawn = random();
  if (drawn < 0.85) return { ms: between(random, 0, 20), later_ms: 1 };
  if (drawn < 0.96) return { ms: between(random, 20, 200), later_ms: 20, manner: "heeds" };
  if (drawn < 0.992) return { ms: between(random, 0.2 * lease_ms, 0.7 * lease_ms), later_ms: 50 };
  if (drawn < 0.999) return { ms: 1.3 * lease_ms, later_ms: 50, manner: random() < 0.5 ? "heeds" : "waits" };
  return { ms: 1.4 * lease_ms, later_ms: 5, manner: "blocks" };
}

/** Where many wait for one another. */
export const brief = (random: Chance): Partial<TaskInput> => ({ ms: between(random, 0, 15), later_ms: 1 });
