/** Throws a RangeError that names the option. */
export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}; got ${value}`);
}

/** The slots of queues that each have their own. Throws a RangeError or a TypeError that names the option. */
export function ownSlots(queues: Readonly<Record<string, number>>, concurrency: number | undefined, max: number) {
  const slots = new Map(Object.entries(queues));
  if (slots.size === 0) throw new TypeError("queues must name at least one queue; got {}");
  if (concurrency !== undefined)
    throw new TypeError("concurrency is for queues that share their slots: leave it out if each queue has its own");
  for (const [queue, count] of slots) requireInteger(`queues: the slots of ${queue}`, count, 1, max);
  return slots;
}

/** Throws a RangeError if a call of one of these handlers could never have all of its jobs. */
export function requireBatchRoom(
  handlers: readonly { type: string; options: { size?: number } }[],
  slots: Iterable<number>,
): void {
  const most = Math.max(...slots);
  for (const { type, options } of handlers)
    if ((options.size ?? 1) > most)
      throw new RangeError(
        `concurrency must be at least the size of the batch handler of ${type}, ${options.size}; got ${most}`,
      );
}
