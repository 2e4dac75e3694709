import { setTimeout as delay } from "node:timers/promises";
import type { Rig } from "./rig.ts";

/** Submitters finish what they have begun. */
const submitters_ms_max = 40_000;
/** For what follows a job's end: its dead letter, its counts, its group's next. */
const after_ms = 3_000;
const look_ms = 500;

/** Everything is as it was before the first fault. */
export async function restore({ postgres, redis, links, processes, disk }: Rig): Promise<void> {
  for (const { name } of processes.running()) {
    processes.order(name, { clock_ms: 0 });
    processes.signal(name, "SIGCONT");
  }
  for (const name of links.names()) links.heal(links.named(name));
  await disk.full?.free();
  redis.primary().resume();
  await redis.asAdmin((to) => to.ping()).catch(() => redis.primary().restart());
  await postgres.restore();
}

/** Jobs that are not final, whole rows, a hundred at most. */
export type Left = readonly Record<string, unknown>[];

/**
 * The submitters end; from then on there is that much time for what is left of their jobs. Gives what has not ended when
 * it is over.
 */
export async function settle({ postgres, processes }: Rig, ms_max: number): Promise<Left> {
  await processes.end("submitter", submitters_ms_max);
  const deadline = performance.now() + ms_max;
  for (;;) {
    const left = await postgres.asAdmin(
      (sql) => sql<Record<string, unknown>[]>`
        SELECT *, now() AS at FROM jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled') LIMIT 100`,
    );
    if (left.length === 0) await delay(after_ms);
    if (left.length === 0 || performance.now() > deadline) return left;
    await delay(look_ms);
  }
}
