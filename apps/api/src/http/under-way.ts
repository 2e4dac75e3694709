/**
 * What is under way, for a stop that has to wait until it is over.
 *
 * @example
 * underWay.add(answer);
 * await underWay.over();
 */
export function createUnderWay() {
  const all = new Set<Promise<unknown>>();
  return {
    /** It counts until it has settled, either way. */
    add(work: Promise<unknown>): void {
      const leave = () => void all.delete(work);
      all.add(work);
      work.then(leave, leave);
    },
    /** Resolves when nothing is under way. */
    async over(): Promise<void> {
      // What ends may have begun something else.
      while (all.size > 0) await Promise.allSettled(all);
    },
  };
}
