import { scenarios } from "../scenarios/index.ts";

/** One measurement: the program of the measured commit, and the file that holds its figures once it has ended. */
export type Step = {
  name: string;
  file: string;
  program: string;
  /** How long it takes, as far as it is known. */
  minutes?: number;
  args(file: string, folder: string): string[];
};

/** The seeds of the fault runs, and the minutes of each. */
export type Extent = { seeds: readonly number[]; minutes: number; quick: boolean };

/** By their paths in a checkout. */
export const programs = { bench: "apps/bench/src/main.ts", faults: "apps/faults/src/main.ts" };

/**
 * Everything that is measured of a commit: each scenario of the bench, then each seed of the fault runs.
 *
 * @example
 * evidenceSteps({ seeds: [1, 2], minutes: 30, quick: false }).map(({ name }) => name); // ["add-1", …, "seed-2"]
 */
export function evidenceSteps({ seeds, minutes, quick }: Extent): Step[] {
  return [
    ...scenarios.map(({ name, minutes: usual }) => ({
      name,
      ...(!quick && { minutes: usual }),
      file: `bench-${name}.json`,
      program: programs.bench,
      args: (file: string) => ["--scenario", name, "--json", file, ...(quick ? ["--quick"] : [])],
    })),
    ...seeds.map((seed) => ({
      name: `seed-${seed}`,
      file: `faults-${seed}.json`,
      program: programs.faults,
      minutes,
      // It writes `figures.json` into its folder.
      args: (_: string, folder: string) => ["--seed", `${seed}`, "--minutes", `${minutes}`, "--out", folder],
    })),
  ];
}
