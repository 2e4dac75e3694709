/** A small seeded random generator (mulberry32), so that a failure can be reproduced. */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from `least` to `most`. */
export const between = (random: () => number, least: number, most: number) =>
  least + Math.floor(random() * (most - least + 1));

/** One of them, or undefined if there are none. */
export const oneOf = <T>(random: () => number, all: readonly T[]): T | undefined =>
  all[Math.floor(random() * all.length)];

/** The same things in another order. */
export function shuffled<T>(random: () => number, all: readonly T[]): T[] {
  const order = all.map((one) => ({ one, by: random() }));
  return order.sort((a, b) => a.by - b.by).map(({ one }) => one);
}
