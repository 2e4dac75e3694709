import type { Written } from "./commands.ts";

/** Runs that once failed, as they were printed. */
export const examples: Readonly<Record<string, readonly Written[]>> = {
  "a spent key of a request that is refused": [
    ["submit unique", [15, 0, 0, 0, 0, 0, 0, 0, 29, 0, 0]],
    ["time passes", [6, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["submit unique", [21, 4, 0, 0, 0, 0, 0, 0, 41, 0, 0, 0, 0, 0, 0]],
  ],
  "two admissions of one job, which was cancelled and retried before them": [
    ["submit inside", [0, 7, 0, 0, 0, 0, 0, 0, 0]],
    ["cancel", [0, 0, 0, 0, 0, 0, 0, 0]],
    ["retry", [0, 0, 0, 0, 0, 0, 0, 0]],
    ["admit", [0, 0, 0, 0, 0, 0, 0, 0]],
  ],
};
