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
  /** No line is empty, and the holder whose turn is over is last. `gone` of a line are in this batch. */
  const lines = new Map<string, { all: One[]; gone: number }>();
  let size = 0;
  return {
    size: () => size,
    addLast(one) {
      const line = lines.get(one.holder);
      if (line) line.all.push(one);
      else lines.set(one.holder, { all: [one], gone: 0 });
      size += 1;
    },
    take({ rows_max, bytes_max }) {
      const batch: One[] = [];
      let [rows, bytes] = [0, 0];
      for (const [holder, line] of lines) {
        const one = line.all[line.gone] as One;
        rows += one.rows;
        bytes += one.bytes;
        if (batch.length > 0 && (rows > rows_max || bytes > bytes_max)) break;
        batch.push(one);
        line.gone += 1;
        lines.delete(holder);
        // Once more in this very batch, if there is room for all that wait.
        if (line.gone < line.all.length) lines.set(holder, line);
        else line.all.length = 0;
      }
      for (const line of lines.values()) {
        if (line.gone > 0) line.all.splice(0, line.gone);
        line.gone = 0;
      }
      size -= batch.length;
      return batch;
    },
    remove(isOut) {
      const out = [...lines.values()].flatMap(({ all }) => all.filter(isOut));
      if (out.length === 0) return out;
      for (const [holder, line] of lines) {
        line.all = line.all.filter((one) => !isOut(one));
        if (line.all.length === 0) lines.delete(holder);
      }
      size -= out.length;
      return out;
    },
  };
}
