import type { Deps } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { foldCounts } from "./fold.ts";

/** One fold over the whole fleet in so long. */
const turn_ms = 1_100;
const batch_max = 1_000;
/** Statements in one fold, so that nobody is kept from other duties. */
const batches_max = 50;

/** Add the changes to the totals until less than a batch is left. */
export async function foldAll(deps: Pick<Deps, "database">): Promise<void> {
  for (let batch = 0; batch < batches_max; batch += 1) if ((await foldCounts(deps, batch_max)) < batch_max) return;
}

export type CountFolder = {
  /** This process has moved jobs. */
  touch(): void;
  stop(): void;
};

/**
 * Keeps the table of changes short where no worker runs that would sweep it: a process that submits folds what is
 * there about once a second, in turns with the others, and only while it submits.
 *
 * @example
 * const folder = createCountFolder(deps);
 * folder.touch();
 */
export function createCountFolder(deps: Deps & { signal: Signal }): CountFolder {
  let timer: NodeJS.Timeout | undefined;
  const fold = async () => {
    try {
      // Without Redis every process folds: they skip each other's rows.
      if (await deps.signal.takeTurn("counts", turn_ms).catch(() => true)) await foldAll(deps);
    } catch (error) {
      // The next fold finds the same rows; nothing may be thrown from a timer.
      deps.observe({ event: "counts_failed", error: String(error) });
    }
  };
  return {
    touch() {
      timer ??= setTimeout(() => {
        timer = undefined;
        void fold();
      }, turn_ms).unref();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
