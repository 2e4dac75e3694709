/**
 * Whatever can be iterated, asked by hand and left once.
 */
export function createSource<T>(items: AsyncIterable<T> | Iterable<T>) {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let state: "idle" | "asked" | "over" = "idle";
  return {
    /** One call at a time. */
    async next(): Promise<IteratorResult<T, unknown>> {
      state = "asked";
      try {
        const result = await iterator.next();
        state = result.done ? "over" : "idle";
        return result;
      } catch (error) {
        state = "over";
        throw error;
      }
    },
    /**
     * No more is wanted: lets it clean up, unless it has ended or failed, as `for await` does. Resolves when it has, or
     * at once while it is asked for the next; rejects with what it throws.
     */
    async leave(): Promise<void> {
      if (state === "over") return;
      const asked = state === "asked";
      state = "over";
      const left = (async () => void (await iterator.return?.()))();
      if (!asked) return left;
      // A generator leaves only after what it was asked for, and that may never come.
      left.catch(() => {});
    },
  };
}
