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

/** The submitters end, and what is left of their jobs does: gives how many jobs are not final when the time is over. */
export async function settle({ postgres, processes }: Rig, ms_max: number): Promise<number> {
  const deadline = performance.now() + ms_max;
  await processes.end("submitter", submitters_ms_max);
  for (;;) {
    const left = await postgres.asAdmin(async (sql) => {
      const [row] = await sql<{ count: number }[]>`
        SELECT count(*)::int AS count FROM jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled')`;
      return row?.count ?? 0;
    });
    if (left === 0) {
      await delay(after_ms);
      return 0;
    }
    if (performance.now() > deadline) return left;
    await delay(look_ms);
  }
}
