import { isUnavailable } from "../database/errors.ts";
import type { Deps } from "../deps.ts";

/** `more`: there is more to do at once. `left`: others have locked what is left, for one statement. */
export type Pass = { more: boolean; left: boolean };

export type Advancer = {
  /** There is something to do. Resolves when a pass that began after this call is over. */
  kick(): Promise<void>;
  /** Resolves when nothing is under way. It may come back for the rest. */
  idle(): Promise<void>;
  /** From now on the rest is left to the sweep. */
  stop(): void;
};

/** What is locked is locked for one statement: look again this soon, then later and later. */
const rest_ms_min = 2;
const rest_ms_max = 500;

/**
 * Does at once what the sweep would do later, in the process that gave the reason: one pass at a time, for all that
 * came up meanwhile. If it dies or the database goes away, the sweep does the rest. `failed` reports what is not an
 * outage.
 *
 * @example
 * const arrivals = createAdvancer(deps, "admitting arrivals", () => admitAll(deps), report);
 * arrivals.kick();
 */
export function createAdvancer(
  deps: Pick<Deps, "observe">,
  during: string,
  pass: () => Promise<Pass>,
  failed: (error: string) => void,
): Advancer {
  let passing: Promise<void> | undefined;
  let waiting: (() => void)[] = [];
  let rest_ms = rest_ms_min;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const passAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const served = waiting;
      waiting = [];
      try {
        const { more, left } = await pass();
        if (more && !stopped) waiting.push(() => {});
        else if (left) comeBack();
        else rest_ms = rest_ms_min;
      } catch (error) {
        if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
        else failed(String(error));
      }
      for (const resolve of served) resolve();
    }
    passing = undefined;
  };
  const kick = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      passing ??= passAll();
    });
  // Not worth keeping the process alive: the sweep finds what an ended process has left.
  const comeBack = () => {
    if (stopped) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void kick();
    }, rest_ms).unref();
    rest_ms = Math.min(rest_ms * 2, rest_ms_max);
  };
  return {
    kick,
    idle: async () => passing,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
