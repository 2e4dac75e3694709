import { oneOf, type Chance } from "../chance.ts";

/** A job that was accepted. */
type Accepted = { tenant: string; id: string; nonce: string; key: string | undefined };

/** Jobs of late, by what they are for: the people at work act on them. Older ones are forgotten. */
export type Recent = {
  add(shelf: Shelf, job: Accepted): void;
  /** One of them, which stays; undefined when there is none. */
  one(shelf: Shelf, random: Chance): Accepted | undefined;
  /** Up to so many of one tenant, which are taken away. */
  take(shelf: Shelf, tenant: string, count: number): Accepted[];
};
/** `any` of them; those that people may `revive` after they died. */
type Shelf = "any" | "revive";

const kept_max = 1_000;

export function createRecent(): Recent {
  const shelves: Record<Shelf, Accepted[]> = { any: [], revive: [] };
  return {
    add(shelf, job) {
      const kept = shelves[shelf];
      kept.push(job);
      if (kept.length > kept_max) kept.shift();
    },
    one: (shelf, random) => (shelves[shelf].length > 0 ? oneOf(random, shelves[shelf]) : undefined),
    take(shelf, tenant, count) {
      const taken = shelves[shelf].filter((job) => job.tenant === tenant).slice(0, count);
      shelves[shelf] = shelves[shelf].filter((job) => !taken.includes(job));
      return taken;
    },
  };
}
