/**
 * The same, shuffled, so that no kind of queues is always the first.
 *
 * @example
 * inAnyOrder(["plain", "limited"], Math.random); // ["limited", "plain"], every other time
 */
export function inAnyOrder<T>(all: readonly T[], random: () => number): T[] {
  return all
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}
