export type Gathered = {
  add(piece: Uint8Array): void;
  bytes(): number;
  /** All that was added; begins anew. */
  take(): Uint8Array;
};

const nothing = Buffer.alloc(0);

/**
 * Pieces of a body put together while they arrive, in one buffer that grows by doubling. Kept apart they would take far
 * more than their size: each two hundred bytes, and whatever it was read with. A single piece is not copied.
 *
 * @example
 * const gathered = createGathered();
 * gathered.add(chunk);
 * const body = gathered.take();
 */
export function createGathered(): Gathered {
  let buffer: Uint8Array = nothing;
  let length = 0;
  return {
    add(piece) {
      if (length === 0) {
        buffer = piece;
        length = piece.length;
        return;
      }
      const wanted = length + piece.length;
      // A first piece ends where its buffer does, so nothing is written into what is not ours.
      if (wanted > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(wanted, 2 * length));
        larger.set(buffer.subarray(0, length));
        buffer = larger;
      }
      buffer.set(piece, length);
      length = wanted;
    },
    bytes: () => length,
    take() {
      const all = buffer.subarray(0, length);
      buffer = nothing;
      length = 0;
      return all;
    },
  };
}
