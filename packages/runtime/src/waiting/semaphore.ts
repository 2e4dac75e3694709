/**
 * A limited number of `places` at once, 1 or more. Of those that wait, the first that came goes first.
 *
 * @example
 * const semaphore = createSemaphore(6);
 * await semaphore.enter(signal);
 */
export function createSemaphore(places: number) {
  let free = places;
  /** A Set lets one that gave up leave from the middle. */
  const line = new Set<() => void>();
  return {
    /** Resolves with a place: call `leave` once when it is done. Rejects with the signal's reason. */
    async enter(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (free > 0) return void (free -= 1);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = () => reject(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      line.add(resolve);
      try {
        await promise;
      } finally {
        line.delete(resolve);
        signal.removeEventListener("abort", giveUp);
      }
    },
    leave(): void {
      const [give] = line;
      if (!give) return void (free += 1);
      line.delete(give);
      give();
    },
    /** How many wait. */
    waiting: () => line.size,
  };
}
