import { createAdvancer } from "../../maintenance/advancer.ts";
import { admitFree, admitHeld, type AdmitterDeps } from "./admitter.ts";

/** Arrived jobs that are being admitted, behind the backs of those that made them arrive. */
export type ArrivalLine = {
  /** Nothing has to wait for this: what is not done, the sweep does. */
  arrived(ids: readonly string[]): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  stop(): void;
};

/** Ids kept while a group of theirs is locked. The sweep knows the others. */
const held_max = 10_000;

/**
 * Admits jobs in the order in which they arrived, one statement at a time, and then those whose groups somebody has
 * locked, which wait with one more: so the lock of a stranger delays nobody but the jobs of its group.
 *
 * @example
 * const line = createArrivalLine({ ...deps, followUps });
 * line.arrived(ids);
 */
export function createArrivalLine(deps: AdmitterDeps): ArrivalLine {
  const fresh = new Set<string>();
  const held = new Set<string>();
  const newLine = (pass: () => Promise<boolean>) =>
    createAdvancer(
      deps,
      "admitting jobs",
      async () => ({ more: await pass(), left: false }),
      (error) => deps.observe({ event: "follow_up_failed", error }),
    );
  const first = newLine(async () => {
    for (const id of await admitFree(deps, taken(fresh))) if (held.size < held_max) held.add(id);
    if (held.size > 0) void second.kick();
    return fresh.size > 0;
  });
  const second = newLine(async () => {
    // Some are free by now, and need not wait beside the others.
    await admitHeld(deps, await admitFree(deps, taken(held)));
    return held.size > 0;
  });
  return {
    arrived(ids) {
      for (const id of ids) fresh.add(id);
      if (fresh.size > 0) void first.kick();
    },
    async idle() {
      await first.idle();
      await second.idle();
    },
    stop() {
      first.stop();
      second.stop();
    },
  };
}

function taken(ids: Set<string>): string[] {
  const all = [...ids].toSorted();
  ids.clear();
  return all;
}
