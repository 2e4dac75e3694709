import { getHeapStatistics } from "node:v8";

/** What a process that does nothing has in its heap. */
const own_bytes = 64 * 1_048_576;

/** Of the limit, what V8 keeps for values that are young, in three parts: large ones that come at once outgrow it. */
const young_bytes = 192 * 1_048_576;

/**
 * A bound on memory, or on what takes memory: as given, and in a small process less, as its heap allows `1/part` of what
 * it does not need for itself, at `bytes_each`. Node gives itself half of the memory of its container or machine, up to 4 GB. `grown`: it becomes old at once, as a
 * page of jobs that is parsed, and has no part in what is kept for young values.
 *
 * @example
 * const waiting = createShares(withinHeap(128 * 1_048_576, { part: 4 })); // 48 MiB where the heap has 256
 */
export function withinHeap(max: number, { part, bytes_each = 1, grown = false }: HeapPart): number {
  const { heap_size_limit } = getHeapStatistics();
  // A process with so little would hardly start.
  const free_bytes = grown
    ? Math.max(heap_size_limit / 8, heap_size_limit - own_bytes - young_bytes)
    : Math.max(own_bytes / 4, heap_size_limit - own_bytes);
  return Math.min(max, Math.floor(free_bytes / part / bytes_each));
}

type HeapPart = { part: number; bytes_each?: number; grown?: boolean };
