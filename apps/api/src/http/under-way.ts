/**
 * What is under way, for a stop that has to wait until it is over. Counted, as a `Set` keeps many that have left it until
 * the next full garbage collection.
 *
 * @example
 * underWay.add(answer);
 * await underWay.over();
 */
export function createUnderWay() {
  let left = 0;
  const waiting: (() => void)[] = [];
  const leave = () => {
    left -= 1;
    if (left === 0) for (const tell of waiting.splice(0)) tell();
  };
  return {
    /** It counts until it has settled, either way. */
    add(work: Promise<unknown>): void {
      left += 1;
      work.then(leave, leave);
    },
    /** Resolves when nothing is under way. */
    async over(): Promise<void> {
      // What ends may have begun something else.
      while (left > 0) await new Promise<void>((tell) => waiting.push(tell));
    },
  };
}
