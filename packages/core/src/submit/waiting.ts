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
  /** No line is empty. Those whose turn is over are last. */
  const lines = new Map<string, One[]>();
  let size = 0;

  const lineOf = (holder: string): One[] => {
    const line = lines.get(holder) ?? [];
    lines.set(holder, line);
    return line;
  };
  const cut = (holder: string, line: One[], count: number): void => {
    line.splice(0, count);
    size -= count;
    lines.delete(holder);
    if (line.length > 0) lines.set(holder, line);
  };

  return {
    size: () => size,
    addLast(one) {
      lineOf(one.holder).push(one);
      size += 1;
    },
    take({ rows_max, bytes_max }) {
      const batch: One[] = [];
      const taken = new Map<string, number>();
      let rows = 0;
      let bytes = 0;
      let full = false;
      for (let round = 0; !full && batch.length < size; round += 1)
        for (const [holder, line] of lines) {
          const one = line[round];
          if (!one) continue;
          rows += one.rows;
          bytes += one.bytes;
          full = batch.length > 0 && (rows > rows_max || bytes > bytes_max);
          if (full) break;
          batch.push(one);
          // Anew, so that the last to have had a turn is the last to have the next.
          taken.delete(holder);
          taken.set(holder, round + 1);
        }
      for (const [holder, count] of taken) cut(holder, lineOf(holder), count);
      return batch;
    },
    remove(isOut) {
      const out: One[] = [];
      for (const [holder, line] of lines) {
        if (!line.some(isOut)) continue;
        const kept = line.filter((one) => !isOut(one));
        out.push(...line.filter(isOut));
        size -= line.length - kept.length;
        // In its place.
        if (kept.length > 0) lines.set(holder, kept);
        else lines.delete(holder);
      }
      return out;
    },
  };
}
