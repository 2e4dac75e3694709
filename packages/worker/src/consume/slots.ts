import { requireBatchRoom } from "@atlasqueue/runtime";

/** Names of queues, which share slots, or names with the slots of each. */
export type Queues = readonly string[] | Readonly<Record<string, number>>;

type Given = {
  queues?: Queues;
  concurrency?: number | undefined;
  handlers: Parameters<typeof requireBatchRoom>[0];
};

const slots_max = 10_000;

/**
 * The queues of a worker, and its slots: shared by all queues, or each queue's own. Throws a RangeError or a TypeError that
 * names the option.
 *
 * @example
 * const { names, slots, concurrency } = slotsOf({ queues: { mail: 20, reports: 2 }, handlers }); // concurrency: 22
 */
export function slotsOf({ queues = ["default"], concurrency, handlers }: Given) {
  if (isList(queues)) {
    requireBatchRoom(handlers, concurrency ?? 10);
    return { names: [...new Set(queues)], slots: undefined, concurrency: concurrency ?? 10 };
  }
  const slots = new Map(Object.entries(queues));
  if (slots.size === 0) throw new TypeError("queues must name at least one queue; got {}");
  if (concurrency !== undefined)
    throw new TypeError(
      "concurrency is for queues that share their slots: leave it out, or make queues a list of names",
    );
  for (const [queue, count] of slots)
    if (!Number.isInteger(count) || count < 1 || count > slots_max)
      throw new RangeError(`queues: the slots of ${queue} must be an integer from 1 to ${slots_max}; got ${count}`);
  requireBatchRoom(handlers, Math.max(...slots.values()));
  return { names: [...slots.keys()], slots, concurrency: [...slots.values()].reduce((sum, count) => sum + count, 0) };
}

const isList = (queues: Queues): queues is readonly string[] => Array.isArray(queues);
