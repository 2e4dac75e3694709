import { createShares } from "@atlasqueue/contract";
import { CallerGoneError, DatabaseTimeoutError } from "../errors.ts";
import { onceOverdue, unsent, type DbHealth } from "../patience.ts";

export type FairSemaphore = {
  /** True when the holder has a place at once; otherwise `wait`. Call `leave` when it is done. */
  enter(holder: string): boolean;
  /** Resolves with a place: call `leave` when it is done. Rejects with `DatabaseTimeoutError` or `CallerGoneError`. */
  wait(holder: string, terms: Terms): Promise<void>;
  leave(holder: string): void;
  /** How many wait. */
  waiting(): number;
};

/** `began_at` by `performance.now()`. */
type Terms = { began_at: number; timeout_ms: number; pulse: DbHealth; gone?: AbortSignal | undefined };

/**
 * Places for a pool's statements. Each holder's wait in their order, and holders take turns. None has more than its share
 * of the places (see `createShares`), so that the next holder finds one free even if no statement of a greedy one ever
 * ends. The API's gate bounds how many wait.
 * See decisions/2026-11-21-shares.md.
 *
 * @example
 * const turns = createFairSemaphore(8);
 * if (!turns.enter(tenant)) await turns.wait(tenant, { began_at, timeout_ms, pulse });
 */
export function createFairSemaphore(places: number): FairSemaphore {
  const seats = createShares(places);
  /** None is empty, and the holder that was served last is last. */
  const lines = new Map<string, Set<() => void>>();

  const leaveLine = (holder: string, begin: () => void): void => {
    const line = lines.get(holder);
    line?.delete(begin);
    if (line?.size === 0) lines.delete(holder);
  };
  const serve = (): void => {
    for (const [holder, line] of lines) {
      const taken = seats.take(holder, 1);
      if (taken === "full") return;
      const [begin] = line;
      if (taken === "share_full" || !begin) continue;
      // Once more in this very round, if there is room for all that wait.
      lines.delete(holder);
      lines.set(holder, line);
      leaveLine(holder, begin);
      begin();
    }
  };

  return {
    enter: (holder) => !lines.has(holder) && seats.take(holder, 1) === "taken",
    async wait(holder, { gone, pulse, ...waiting }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const line = lines.get(holder) ?? new Set();
      lines.set(holder, line.add(resolve));
      const giveUp = (error: Error): void => {
        leaveLine(holder, resolve);
        reject(error);
      };
      const hangUp = () => giveUp(new CallerGoneError());
      const stop = onceOverdue(waiting, pulse, () =>
        giveUp(new DatabaseTimeoutError(waiting.timeout_ms, unsent(waiting, pulse))),
      );
      gone?.addEventListener("abort", hangUp, { once: true });
      if (gone?.aborted) hangUp();
      try {
        await promise;
      } finally {
        stop();
        gone?.removeEventListener("abort", hangUp);
      }
    },
    leave(holder) {
      seats.give(holder, 1);
      serve();
    },
    waiting: () => [...lines.values()].reduce((sum, { size }) => sum + size, 0),
  };
}
