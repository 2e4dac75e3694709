import { isLocked, isOutage, isUnavailable } from "../database/errors.ts";
import { isTakenMeanwhile } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import { drainPage, type Handlers, type Place } from "./drain-page.ts";

export type Drainer = {
  /** There are rows. Resolves when none is left that can be acted on now. Never rejects. */
  drain(): Promise<void>;
  /** Resolves when nothing is under way. Rows that were put off may be left. */
  idle(): Promise<void>;
  /** Ends after the page that is under way. From then on the rest is left to other processes. */
  stop(): void;
};

const page_rows_max = 500;

/**
 * Acts on the rows of the outbox, a page at a time, until none is left that is due. It is asked to after each commit
 * that wrote rows, and by each sweep. When a page fails, the next one has half as many rows, down to one: so
 * a row that its handler fails on is put off alone.
 * See decisions/2026-11-28-outbox.md.
 *
 * @example
 * const outbox = createDrainer(deps, outboxHandlers(deps));
 * void outbox.drain();
 */
export function createDrainer(deps: Pick<Deps, "database" | "observe">, handlers: Handlers): Drainer {
  let rows_max = page_rows_max;
  let draining: Promise<void> | undefined;
  /** Rows that each may be acted on alone, by their ids. */
  const alone = new Map<string, Place>();
  let was_page = false;
  let asked = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const tell = (error: unknown): void => {
    const during = "draining the outbox";
    // Somebody else has what is wanted: it is tried again in a moment.
    if (isLocked(error) || isTakenMeanwhile(error)) return;
    if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
    else deps.observe({ event: "outbox_failed", error: String(error) });
  };
  /** Whether there may be more that is due. */
  const page = async (): Promise<boolean> => {
    try {
      const [first] = alone.values();
      // In turn with pages, as each may wait for a lock.
      const only = was_page ? first : undefined;
      was_page = only === undefined;
      if (only !== undefined) alone.delete(only.id);
      const { rows, next_ms, error, alone: more = [] } = await drainPage(deps, handlers, rows_max, only);
      if (error !== undefined) tell(error);
      for (const place of more) alone.set(place.id, place);
      if (only === undefined) rows_max = Math.min(rows_max * 2, page_rows_max);
      if (next_ms !== undefined) comeBackIn(next_ms);
      return rows > 0 || only !== undefined || alone.size > 0;
    } catch (error) {
      tell(error);
      const smaller = rows_max > 1 && !isOutage(error);
      rows_max = Math.ceil(rows_max / 2);
      return smaller;
    }
  };
  const all = async (): Promise<void> => {
    while (asked && !stopped) {
      asked = false;
      while (!stopped && (await page()));
    }
    draining = undefined;
  };
  const drain = (): Promise<void> => {
    asked = true;
    return (draining ??= all());
  };
  // Not worth keeping the process alive for: the sweep of another one finds them.
  const comeBackIn = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void drain();
    }, ms).unref();
  };
  return {
    drain,
    idle: async () => draining,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
