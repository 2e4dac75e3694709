import { getHeapStatistics } from "node:v8";

/**
 * A bound on memory, or on what takes memory: as given, and in a small process less, as its heap allows `1/part` of
 * itself for it, at `bytes_each`. Node gives itself half of the memory of its container or machine, up to 4 GB.
 *
 * @example
 * const waiting = createShares(withinHeap(128 * 1_048_576, { part: 4 })); // 64 MiB where the heap has 256
 */
export function withinHeap(max: number, { part, bytes_each = 1 }: { part: number; bytes_each?: number }): number {
  return Math.min(max, Math.floor(getHeapStatistics().heap_size_limit / part / bytes_each));
}
