import { isUnavailable } from "./database/errors.ts";
import type { Deps } from "./deps.ts";
import { announce } from "./signal/announce.ts";
import type { Signal } from "./signal/signal.ts";
import { advanceGroups } from "./transitions/advance-groups.ts";

const handovers_max = 500;
/** Statements in one go, so that a sweep has time for its other duties. */
const rounds_max = 50;

/** Let the next job of each group through that waits for it, and signal it. Returns how many there were. */
export async function advanceAll(deps: Deps & { signal: Signal }): Promise<number> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { handovers, ready } = await advanceGroups(deps, handovers_max);
    await announce(deps, ready);
    total += ready.length;
    if (handovers < handovers_max) break;
  }
  return total;
}

export type GroupAdvancer = {
  /** A job of a group has finished. */
  kick(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
};

/**
 * Hands groups on in the process that finished their jobs: one pass at a time, for all that finished meanwhile. What it
 * leaves undone, as it dies or the database goes away, the sweep does.
 *
 * @example
 * const groups = createGroupAdvancer(deps);
 * groups.kick();
 */
export function createGroupAdvancer(deps: Deps & { signal: Signal }): GroupAdvancer {
  let passing: Promise<void> | undefined;
  let again = false;

  const pass = async (): Promise<void> => {
    do {
      again = false;
      try {
        await advanceAll(deps);
      } catch (error) {
        const during = "handing groups on";
        if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
        else deps.observe({ event: "groups_failed", error: String(error) });
      }
    } while (again);
    passing = undefined;
  };
  return {
    kick() {
      if (passing) again = true;
      else passing = pass();
    },
    idle: async () => passing,
  };
}
