/**
 * A limited number at once, the others in line: first come, first served.
 *
 * @example
 * const slots = createSlots(6);
 * const leave = await slots.enter(signal); // rejects with the signal's reason
 */
export function createSlots(slots_max: number) {
  let free = slots_max;
  // A Set keeps the order, and lets one that gave up leave from the middle.
  const line = new Set<() => void>();

  const leave = (): void => {
    const [next] = line;
    if (!next) {
      free += 1;
      return;
    }
    line.delete(next);
    next();
  };

  return {
    enter(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return Promise.resolve(leave);
      }
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          line.delete(enter);
          reject(signal.reason as Error);
        };
        const enter = () => {
          signal.removeEventListener("abort", giveUp);
          resolve(leave);
        };
        line.add(enter);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
    /** Whether anyone is in line. */
    crowded: () => line.size > 0,
  };
}
