import { isUnavailable } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { advanceGroups } from "./advance.ts";

const handovers_max = 500;
/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;

/**
 * Let the next job of each waiting group through, and signal it. `left` says that some groups were locked by others.
 */
export async function advanceAll(deps: Deps & { signal: Signal }): Promise<{ total: number; left: boolean }> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { handovers, left, ready } = await advanceGroups(deps, handovers_max);
    await announce(deps, ready);
    total += ready.length;
    if (handovers < handovers_max) return { total, left };
  }
  return { total, left: true };
}

export type GroupAdvancer = {
  /** A job of a group has finished. Resolves when a pass that began after this call is over. */
  kick(): Promise<void>;
  /** Resolves when nothing is under way. It may come back for the rest. */
  idle(): Promise<void>;
  /** From now on the rest is left to the sweep. */
  stop(): void;
};

/** A locked group is locked for one statement: look again this soon, then later and later. */
const rest_ms_min = 2;
const rest_ms_max = 500;

/**
 * Hands groups on in the process that finished their jobs: one pass at a time, for all that finished meanwhile. If it
 * dies or the database goes away, the sweep does the rest.
 *
 * @example
 * const groups = createGroupAdvancer(deps);
 * groups.kick();
 */
export function createGroupAdvancer(deps: Deps & { signal: Signal }): GroupAdvancer {
  let passing: Promise<void> | undefined;
  let waiting: (() => void)[] = [];
  let rest_ms = rest_ms_min;
  let timer: NodeJS.Timeout | undefined;

  const pass = async (): Promise<void> => {
    while (waiting.length > 0) {
      const served = waiting;
      waiting = [];
      try {
        const { left } = await advanceAll(deps);
        if (left) comeBack();
        else rest_ms = rest_ms_min;
      } catch (error) {
        const during = "handing groups on";
        if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
        else deps.observe({ event: "groups_failed", error: String(error) });
      }
      for (const resolve of served) resolve();
    }
    passing = undefined;
  };
  const kick = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      passing ??= pass();
    });
  // Not worth keeping the process alive: the sweep finds what an ended process has left.
  const comeBack = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void kick();
    }, rest_ms).unref();
    rest_ms = Math.min(rest_ms * 2, rest_ms_max);
  };
  return { kick, idle: async () => passing, stop: () => clearTimeout(timer) };
}
