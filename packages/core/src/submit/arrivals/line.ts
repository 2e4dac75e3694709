import { createAdvancer } from "../../maintenance/advancer.ts";
import { createWaiting, type Waits } from "../waiting.ts";
import type { ArrivedJob } from "./admit.ts";
import { admitFree, admitHeld, type AdmitterDeps } from "./admitter.ts";
import { jobs_max } from "./arrived-ids.ts";

/** Arrived jobs that are being admitted, behind the backs of those that made them arrive. */
export type ArrivalLine = {
  /** Nothing has to wait for this: what is not done, the sweep does. */
  arrived(jobs: readonly ArrivedJob[]): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  stop(): void;
};

/** Jobs kept while what they want is locked. The sweep knows the others. */
const held_max = 10_000;

/**
 * Admits jobs, each tenant's in the order in which they arrived, a page at a time: tenants have equal shares of it. Then
 * come those that want what somebody has locked, which wait in a line of their own: so the lock of a stranger delays nobody
 * else.
 *
 * @example
 * const line = createArrivalLine({ ...deps, followUps });
 * line.arrived([{ id, tenant }]);
 */
export function createArrivalLine(deps: AdmitterDeps): ArrivalLine {
  const fresh = createArrivedJobs();
  const held = createArrivedJobs();
  let stopped = false;
  const newLine = (jobs: ArrivedJobs, pass: () => Promise<void>) => {
    const line = createAdvancer(
      deps,
      "admitting jobs",
      async () => {
        try {
          await pass();
        } finally {
          // Also when a job of this page failed.
          if (jobs.size() > 0 && !stopped) void line.kick();
        }
        return { more: false, left: false };
      },
      (error) => deps.observe({ event: "follow_up_failed", error }),
    );
    return line;
  };
  const pageOf = async (jobs: ArrivedJobs): Promise<ArrivedJob[]> => {
    const page = jobs.take();
    const { held: still, rest } = await admitFree(deps, [...page.keys()]);
    for (const id of rest) jobs.add({ id, tenant: page.get(id) ?? "" });
    return still;
  };
  const first = newLine(fresh, async () => {
    for (const job of await pageOf(fresh)) if (held.size() < held_max) held.add(job);
    if (held.size() > 0) void second.kick();
  });
  const second = newLine(held, async () => {
    // Some are free by now, and need not wait beside the others.
    const still = await pageOf(held);
    await admitHeld(
      deps,
      still.map(({ id }) => id),
    );
  });
  return {
    arrived(jobs) {
      for (const job of jobs) fresh.add(job);
      if (fresh.size() > 0) void first.kick();
    },
    async idle() {
      await first.idle();
      await second.idle();
    },
    stop() {
      stopped = true;
      first.stop();
      second.stop();
    },
  };
}

type ArrivedJobs = ReturnType<typeof createArrivedJobs>;

/** Jobs to be admitted, each once; tenants take turns. */
function createArrivedJobs() {
  const known = new Set<string>();
  const waiting = createWaiting<Waits & { id: string }>();
  return {
    size: () => known.size,
    add({ id, tenant }: ArrivedJob): void {
      if (!known.has(id)) waiting.addLast({ id, holder: tenant, bytes: 0, rows: 1 });
      known.add(id);
    },
    /** The tenants of a page of them, by their ids. */
    take(): ReadonlyMap<string, string> {
      const page = waiting.take({ rows_max: jobs_max, bytes_max: 0 });
      for (const { id } of page) known.delete(id);
      return new Map(page.map(({ id, holder }) => [id, holder]));
    },
  };
}
