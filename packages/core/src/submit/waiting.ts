/** Somebody's request, and how much of a batch it is. */
export type Waits = { holder: string; bytes: number; rows: number };
type BatchBounds = { rows_max: number; bytes_max: number };

export type Waiting<One extends Waits> = {
  size(): number;
  addLast(one: One): void;
  /** The next batch: one at least, if any waits. */
  take(bounds: BatchBounds): One[];
  /** Takes these out of it. */
  remove(isOut: (one: One) => boolean): One[];
};

/**
 * Requests that wait to share a batch: each holder's in order, and holders taking turns, request by request. Otherwise
 * one tenant's tens of thousands would have to be stored before the next tenant's one.
 *
 * @example
 * const waiting = createWaiting<Request>();
 * waiting.addLast(request);
 * const batch = waiting.take({ rows_max: 500, bytes_max: 4_194_304 });
 */
export function createWaiting<One extends Waits>(): Waiting<One> {
  /** No line is empty, and the holder whose turn is over is last. */
  const lines = new Map<string, Set<One>>();
  let size = 0;
  const leave = (one: One): void => {
    const line = lines.get(one.holder);
    if (!line?.delete(one)) return;
    size -= 1;
    if (line.size === 0) lines.delete(one.holder);
  };
  return {
    size: () => size,
    addLast(one) {
      lines.set(one.holder, (lines.get(one.holder) ?? new Set()).add(one));
      size += 1;
    },
    take({ rows_max, bytes_max }) {
      const batch: One[] = [];
      let rows = 0;
      let bytes = 0;
      for (const [holder, line] of lines) {
        const [one] = line;
        if (!one) continue;
        rows += one.rows;
        bytes += one.bytes;
        if (batch.length > 0 && (rows > rows_max || bytes > bytes_max)) break;
        batch.push(one);
        // Once more in this very batch, if there is room for all that wait.
        lines.delete(holder);
        lines.set(holder, line);
        leave(one);
      }
      return batch;
    },
    remove(isOut) {
      const out = [...lines.values()].flatMap((line) => [...line].filter(isOut));
      for (const one of out) leave(one);
      return out;
    },
  };
}
