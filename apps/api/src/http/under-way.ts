export type UnderWay = {
  /** It counts until it has settled, either way. */
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is under way. */
  over(): Promise<void>;
};

/**
 * What is under way, for whoever has to wait until it is over.
 *
 * @example
 * underWay.add(answer);
 * await underWay.over();
 */
export function createUnderWay(): UnderWay {
  let count = 0;
  const waiting: (() => void)[] = [];
  const leave = () => {
    count -= 1;
    if (count === 0) for (const resolve of waiting.splice(0)) resolve();
  };
  return {
    add(work) {
      count += 1;
      void work.then(leave, leave);
    },
    async over() {
      // What ends may have begun something else in the same turn.
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
