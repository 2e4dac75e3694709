export type EnterOptions = {
  /** On whose behalf: holders that wait take turns. Default: all are one. */
  holder?: string;
  /** Those with a higher one go first, of any holder. Default 0. */
  priority?: number;
  /** Aborting it gives up the wait; a deadline is `AbortSignal.timeout(ms)`. */
  signal?: AbortSignal;
};

/** By holder, whose turn it is first. None is empty; a Set lets one that gave up leave from the middle. */
type Line = Map<string, Set<() => void>>;

/**
 * A limited number of `places` at once, 1 or more. Of those that wait, the highest priority goes first; within it holders
 * take turns, and of one holder the first that came goes first.
 *
 * @example
 * const semaphore = createSemaphore(6);
 * const leave = await semaphore.enter({ holder: tenant, signal });
 */
export function createSemaphore(places: number) {
  let free = places;
  let waiting = 0;
  const lines = new Map<number, Line>();

  const take = (): (() => void) | undefined => {
    if (waiting === 0) return undefined;
    const priority = Math.max(...lines.keys());
    for (const [holder, gives] of lines.get(priority) ?? [])
      for (const give of gives) {
        remove(priority, holder, give);
        // Behind the others that wait.
        const line = lines.get(priority);
        if (gives.size > 0 && line?.delete(holder)) line.set(holder, gives);
        return give;
      }
    return undefined;
  };
  const remove = (priority: number, holder: string, give: () => void): void => {
    const line = lines.get(priority);
    const gives = line?.get(holder);
    if (!line || !gives?.delete(give)) return;
    waiting -= 1;
    if (gives.size === 0) line.delete(holder);
    if (line.size === 0) lines.delete(priority);
  };
  const place = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const give = take();
      if (give) give();
      else free += 1;
    };
  };

  return {
    /** Resolves with a function that leaves the place again. Rejects with the signal's reason. */
    enter({ holder = "", priority = 0, signal }: EnterOptions = {}): Promise<() => void> {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(place());
      }
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          remove(priority, holder, give);
          reject(signal?.reason as Error);
        };
        const give = () => {
          signal?.removeEventListener("abort", giveUp);
          resolve(place());
        };
        const line: Line = lines.get(priority) ?? new Map<string, Set<() => void>>();
        lines.set(priority, line.set(holder, (line.get(holder) ?? new Set<() => void>()).add(give)));
        waiting += 1;
        signal?.addEventListener("abort", giveUp, { once: true });
      });
    },
    /** How many wait. */
    waiting: () => waiting,
  };
}
