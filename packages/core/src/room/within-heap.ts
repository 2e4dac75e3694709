import { getHeapStatistics } from "node:v8";

/** What a process that does nothing has in its heap. */
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
  const free_bytes = Math.max(own_bytes / 4, heapBytes() - own_bytes);
  return Math.min(max, Math.floor(free_bytes / part / bytes_each));
}

/**
 * What lasts has to fit into. Where it was set, V8's limit is that and up to 192 MiB for what is new.
 *
 * @example
 * heapBytes(["--max-old-space-size=256"]); // 268435456
 */
export function heapBytes(
  options: readonly string[] = [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv],
): number {
  const set = [...options.join(" ").matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1)?.[1];
  const { heap_size_limit } = getHeapStatistics();
  return set === undefined ? heap_size_limit : Math.min(heap_size_limit, Number(set) * 1_048_576);
}
