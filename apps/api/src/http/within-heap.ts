import { getHeapStatistics } from "node:v8";

/** What an API that does nothing has in its heap. */
const own_bytes = 64 * 1_048_576;

/**
 * A bound on memory, or on what takes memory: as given, and in a small process less, as its heap allows `1/part` of what
 * it does not need for itself, at `bytes_each`. Node gives itself half of the memory of its container or machine, up to 4 GB.
 *
 * @example
 * const waiting = createShares(withinHeap(128 * 1_048_576, { part: 4 })); // 48 MiB where the heap has 256
 */
export function withinHeap(max: number, { part, bytes_each = 1 }: { part: number; bytes_each?: number }): number {
  // A process with so little would hardly start.
  const free_bytes = Math.max(own_bytes / 4, getHeapStatistics().heap_size_limit - own_bytes);
  return Math.min(max, Math.floor(free_bytes / part / bytes_each));
}
