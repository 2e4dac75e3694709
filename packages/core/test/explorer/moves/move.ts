import { isLocked, isUnavailable } from "../../../src/database/errors.ts";
import type { Deps } from "../../../src/deps.ts";
import type { World } from "../world.ts";

/** Something that is done to jobs: stopped at each of its steps, or done whole beside another that is stopped. */
export type Move = {
  run: (world: World, deps: Deps) => Promise<unknown>;
  /** It may wait for a row that the other one has locked. One of many jobs must not. */
  waits: boolean;
  /** The job that it is about, and those that have to do with it. Two moves with nothing in common are no pair. */
  about?: string;
};
export type Moves = Readonly<Record<string, Move>>;
type Run = Move["run"];

const all = (runs: Readonly<Record<string, Run>>, more: Omit<Move, "run">): Moves =>
  Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, { run, ...more }]));

/** Moves of many jobs: they skip what is locked. */
export const ofMany = (runs: Readonly<Record<string, Run>>): Moves => all(runs, { waits: false });
/** Moves of one job, or of one queue: they may wait for it, and for nothing else. */
export const ofOne = (about: string | undefined, runs: Readonly<Record<string, Run>>): Moves =>
  all(runs, { waits: true, ...(about !== undefined && { about }) });

/** Its caller repeats it. */
export const mayBeLate = (error: unknown): void => {
  if (!isUnavailable(error) && !isLocked(error)) throw error;
};

/** Nothing follows a move here. */
export const nothingFollows = {
  revived: async () => {},
  cancelled: async () => {},
  retried: async () => {},
  noLongerDead: async () => {},
};
