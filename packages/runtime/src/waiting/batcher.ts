import { soon } from "./pause.ts";

export type BatcherOptions<Item> = {
  /** In one batch. */
  items_max: number;
  /** Of one batch, as `bytesOf` counts; an item that is larger goes alone. Default: no limit. */
  bytes_max?: number;
  bytesOf?(item: Item): number;
  /** Whether an item may go with the first of a batch; otherwise it stays for a later one. Default: always. */
  fits?(first: Item, item: Item): boolean;
  /** Batches under way at once. Default 1. */
  flights_max?: number;
  /** Must not reject. */
  flush(batch: Item[]): Promise<void>;
};

/**
 * When idle, an item goes at the end of this turn of the event loop, with the others of the turn; those that come while all
 * flights are under way go together in the next ones. The oldest is always in the next batch.
 *
 * @example
 * const batcher = createBatcher<Outcome>({ items_max: 500, flush: (batch) => store(batch) });
 * batcher.add(outcome);
 */
export function createBatcher<Item>(options: BatcherOptions<Item>) {
  const { flights_max = 1, flush } = options;
  let waiting: Item[] = [];
  let flights = 0;
  let waiters: (() => void)[] = [];

  const start = (): void => {
    if (flights >= flights_max || waiting.length === 0) return;
    flights += 1;
    soon(() => void fly());
  };
  const fly = async (): Promise<void> => {
    // Another flight may have taken them.
    if (waiting.length > 0) {
      const [batch, left] = split(waiting, options);
      waiting = left;
      start();
      await flush(batch);
    }
    flights -= 1;
    start();
    if (flights > 0) return;
    const told = waiters;
    waiters = [];
    for (const resolve of told) resolve();
  };

  return {
    add(...items: readonly Item[]): void {
      for (const item of items) waiting.push(item);
      start();
    },
    /** Resolves once everything given so far has been flushed. */
    idle: () => (flights === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiters.push(resolve))),
    isBusy: () => flights > 0,
  };
}

/** The next batch, and what is left. */
function split<Item>(waiting: Item[], options: BatcherOptions<Item>): [batch: Item[], left: Item[]] {
  const { items_max, bytes_max = Infinity, bytesOf = () => 0, fits = () => true } = options;
  const [first] = waiting as [Item];
  const batch = [first];
  const left: Item[] = [];
  let bytes = bytesOf(first);
  for (let at = 1; at < waiting.length; at += 1) {
    const item = waiting[at] as Item;
    // One that is too large ends the batch: smaller ones behind it would overtake it again and again.
    if (batch.length === items_max || bytes + bytesOf(item) > bytes_max)
      return [batch, [...left, ...waiting.slice(at)]];
    if (!fits(first, item)) left.push(item);
    else {
      batch.push(item);
      bytes += bytesOf(item);
    }
  }
  return [batch, left];
}
