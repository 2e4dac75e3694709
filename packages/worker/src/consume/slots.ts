import { ownSlots, requireBatchRoom } from "@atlasqueue/runtime";

/** Names of queues, which share slots, or names with the slots of each. */
export type Queues = readonly string[] | Readonly<Record<string, number>>;
type Given = { queues?: Queues; concurrency?: number | undefined; handlers: Parameters<typeof requireBatchRoom>[0] };

/**
 * The queues of a worker, and its slots: shared by all queues, or each queue's own. Throws a RangeError or a TypeError that
 * names the option.
 *
 * @example
 * const { names, slots, concurrency } = slotsOf({ queues: { mail: 20, reports: 2 }, handlers }); // concurrency: 22
 */
export function slotsOf({ queues = ["default"], concurrency, handlers }: Given) {
  const slots = isList(queues) ? undefined : ownSlots(queues, concurrency, 10_000);
  const counts = slots ? [...slots.values()] : [concurrency ?? 10];
  requireBatchRoom(handlers, counts);
  const names = isList(queues) ? [...new Set(queues)] : Object.keys(queues);
  return { names, slots, concurrency: counts.reduce((sum, count) => sum + count, 0) };
}

const isList = (queues: Queues): queues is readonly string[] => Array.isArray(queues);
