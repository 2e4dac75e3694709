import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** No id comes before the first one, nor after the last. */
export const firstId = "00000000-0000-0000-0000-000000000000";
export const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * When a UUIDv7 was made, to the millisecond, by the clock of who made it.
 *
 * @example
 * timeOf("019aa1f9-de03-7328-b096-eaadbdcc78dd"); // 2025-11-20T15:54:58.435Z
 */
export const timeOf = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

const pool = new Uint8Array(4_096);
let used = pool.length;
let last_ms = -Infinity;
let count = 0;

/** A clock that went back further than this was wrong before, and is followed. */
const back_ms_max = 60_000;

/**
 * A new UUIDv7. Ids of one process sort in the order they were made: within a millisecond, and while the clock is
 * behind where it was, they count up from a random number (RFC 9562 §6.2, method 1). That lasts a minute at most: a clock that was a year ahead for
 * a moment must not date all later ids, by which retention goes, a year ahead. Random bytes are drawn for many ids at
 * once, as a draw costs twenty times as much as an id.
 *
 * @example
 * const id = newId(); // "019aa1f9-de03-7328-b096-eaadbdcc78dd"
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += 16));
  const now = Date.now();
  if (now > last_ms || now < last_ms - back_ms_max) {
    last_ms = now;
    // Half the counter's range, so that counting up does not overflow.
    count = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else count += 1;
  return v7({ random, msecs: last_ms, seq: count });
}
