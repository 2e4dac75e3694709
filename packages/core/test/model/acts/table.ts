import type { Act } from "./choices.ts";
import { people } from "./people.ts";
import { spawns } from "./spawns.ts";
import { submits } from "./submits.ts";
import { sweeps } from "./sweeps.ts";
import { work } from "./work.ts";

/** How often each happens, beside the others: jobs must get through as fast as they come. */
const weights: Record<string, number> = {
  claim: 8,
  "claim by age": 8,
  complete: 9,
  fail: 8,
  park: 3,
  retry: 4,
  "submit one that expires": 2,
  expire: 3,
  "submit with a key": 2,
  "submit unique": 1.5,
  spawn: 2,
  prune: 2,
  "set the concurrency": 0.5,
  "set the rate": 0.5,
  "set the rate of groups": 0.5,
  "pause or resume": 0.5,
  "time passes": 5,
  recover: 3,
  promote: 5,
  "advance overdue groups": 6,
  "close edges": 5,
  "release children": 5,
  admit: 4,
};

export const acts: Readonly<Record<string, Act>> = { ...submits, ...work, ...spawns, ...people, ...sweeps };
export const weightOf = (name: string): number => 2 * (weights[name] ?? 1);
