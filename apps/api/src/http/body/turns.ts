export type Turns = {
  /** Resolves when it is this holder's turn, each in a separate turn of the event loop. */
  take(holder: string): Promise<void>;
};

/**
 * Lets work that takes some milliseconds begin one at a time, holder after holder, so that in between the event loop
 * serves everyone else: otherwise twelve large bodies arriving together would block it for all twelve.
 *
 * @example
 * await turns.take(tenant);
 * const value = JSON.parse(text);
 */
export function createTurns(): Turns {
  const lines = new Map<string, (() => void)[]>();
  let going = false;

  const next = (): void => {
    const [first] = lines;
    going = first !== undefined;
    if (!first) return;
    const [holder, line] = first;
    // To the end, behind the others that wait.
    lines.delete(holder);
    line.shift()?.();
    if (line.length > 0) lines.set(holder, line);
    setImmediate(next);
  };

  return {
    take: (holder) =>
      new Promise((resolve) => {
        const line = lines.get(holder);
        if (line) line.push(resolve);
        else lines.set(holder, [resolve]);
        if (going) return;
        going = true;
        setImmediate(next);
      }),
  };
}
