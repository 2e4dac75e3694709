import { createBatcher, type BatcherOptions } from "../waiting/batcher.ts";
import { pause, restMs } from "../waiting/pause.ts";

/** Where outcomes are stored, over SQL or HTTP. */
export type OutcomeStore<Item> = Omit<BatcherOptions<Item>, "flush"> & {
  /** Whether its outcome counts: the job is neither settled yet nor lost. */
  isHeld(item: Item): boolean;
  /**
   * Stores the outcomes of a batch. Resolves with those that could not be stored for now, such as of a job that somebody has
   * locked. Rejects when nothing is known of any, and may be repeated then.
   */
  send(batch: Item[]): Promise<readonly Item[]>;
  /** After `send` rejected. `again`: it may pass. `refused`: something in the batch is not acceptable. */
  judge(error: unknown, batch: readonly Item[]): "again" | "refused";
  /** An outcome is not acceptable by itself: an outcome to store in its place, if any. */
  instead(item: Item, error: unknown): Item | undefined;
};

/**
 * Takes outcomes to where they are stored, those that are ready together in one batch. While that is away they are sent
 * again, for as long as their jobs are held. A failed batch waits in a line of its own, so that it keeps no other
 * outcome waiting. A refused one is halved until the outcome that spoils it is alone.
 *
 * @example
 * const settler = createSettler<Settlement>(store);
 * settler.settle({ job, outcome });
 */
export function createSettler<Item extends object>(store: OutcomeStore<Item>) {
  const stopped = new AbortController();
  const failures = new WeakMap<Item, number>();
  const rests = new Set<Promise<void>>();

  const deliver = async (all: readonly Item[]): Promise<void> => {
    const batch = all.filter(store.isHeld);
    if (batch.length === 0 || stopped.signal.aborted) return;
    try {
      tryLater(await store.send(batch));
    } catch (error) {
      if (store.judge(error, batch) === "again") return tryLater(batch);
      const middle = batch.length >> 1;
      if (middle > 0) {
        await deliver(batch.slice(0, middle));
        return await deliver(batch.slice(middle));
      }
      const instead = store.instead(batch[0] as Item, error);
      if (instead) await deliver([instead]);
    }
  };
  const tryLater = (items: readonly Item[]): void => {
    if (items.length === 0) return;
    const counts = items.map((item) => (failures.get(item) ?? 0) + 1);
    items.forEach((item, at) => failures.set(item, counts[at] as number));
    const rest = sendAgain(items, restMs(Math.min(...counts)));
    rests.add(rest);
    void rest.then(() => rests.delete(rest));
  };
  const sendAgain = async (items: readonly Item[], rest_ms: number): Promise<void> => {
    await pause(rest_ms, stopped.signal);
    again.add(...items);
  };
  const ready = createBatcher<Item>({ ...store, flush: deliver });
  const again = createBatcher<Item>({ ...store, flush: deliver });

  return {
    settle: (item: Item): void => ready.add(item),
    /** Resolves when everything given so far has been settled or given up. */
    async drained(): Promise<void> {
      while (ready.isBusy() || again.isBusy() || rests.size > 0)
        await Promise.all([ready.idle(), again.idle(), ...rests]);
    },
    /** Stop waiting for a store that is away. */
    close: () => stopped.abort(),
  };
}
