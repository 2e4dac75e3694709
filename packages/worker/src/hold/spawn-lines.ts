import { pause } from "@atlasqueue/core/internal";

/** `held`: nothing was done, as somebody has locked what it needs, or the database is away. Try again later. */
type Tried = "done" | "held";

/** Each is a transaction, and they must not take all connections. */
const first_lanes = 2;
/** For those that had to wait once: whoever has locked what they need keeps only each other waiting. */
const later_lanes = 1;

/**
 * Writes outcomes that bring jobs with them. Each is a transaction of its own, which may meet the locks of others: in
 * lines of their own, so that no other outcome waits for that. Ends when `stop` aborts, with what is left undone.
 *
 * @example
 * const lines = createSpawnLines(write, { retry_ms: 250, stop }, () => tellIdle());
 * lines.add(success);
 */
export function createSpawnLines<T>(
  write: (one: T) => Promise<Tried>,
  { retry_ms, stop }: { retry_ms: number; stop: AbortSignal },
  ended: (one: T) => void,
) {
  let open = 0;
  const end = (one: T): void => {
    open -= 1;
    ended(one);
  };
  const tryOne = async (one: T): Promise<void> => {
    if ((await write(one)) === "done" || stop.aborted) return end(one);
    void pause(retry_ms, stop).then(() => later(one));
  };
  const first = createLine(first_lanes, tryOne);
  const later = createLine(later_lanes, tryOne);
  return {
    add(one: T): void {
      open += 1;
      first(one);
    },
    isBusy: () => open > 0,
  };
}

/** Takes what it is given in order, so many at once. */
function createLine<T>(lanes: number, take: (one: T) => Promise<void>): (one: T) => void {
  const waiting: T[] = [];
  let taking = 0;
  const next = (): void => {
    const one = taking < lanes ? waiting.shift() : undefined;
    if (one === undefined) return;
    taking += 1;
    void take(one).finally(() => {
      taking -= 1;
      next();
    });
  };
  return (one) => {
    waiting.push(one);
    next();
  };
}
