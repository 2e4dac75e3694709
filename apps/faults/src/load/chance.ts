import { createHash } from "node:crypto";
import { chance as numbers } from "@atlasqueue/harness/servers";

export { between } from "@atlasqueue/harness/servers";

/** Numbers from 0 to 1, always the same ones for the same names. */
export type Chance = () => number;

/**
 * For one purpose, named by what it depends on: what one act draws must not depend on which others came before it.
 *
 * @example
 * const random = chance(seed, "submitter-1", turn);
 */
export function chance(...names: readonly (string | number)[]): Chance {
  return numbers(createHash("sha256").update(names.join("\0")).digest().readInt32LE());
}

/** One of them. Throws when there is none. */
export function oneOf<T>(random: Chance, all: readonly T[]): T {
  if (all.length === 0) throw new RangeError("there is nothing to choose from");
  return all[Math.floor(random() * all.length)] as T;
}

/** One of them, each as often as its weight says. */
export function weighted<T extends { weight: number }>(random: Chance, all: readonly T[]): T {
  let left = random() * all.reduce((sum, { weight }) => sum + weight, 0);
  const found = all.find(({ weight }) => (left -= weight) < 0) ?? all.at(-1);
  if (!found) throw new RangeError("there is nothing to choose from");
  return found;
}
