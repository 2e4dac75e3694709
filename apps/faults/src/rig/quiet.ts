import { pause } from "@atlasqueue/core/internal";
import type { Sql } from "postgres";
import type { Rig } from "./rig.ts";

/** Submitters finish what they have begun. */
const submitters_ms_max = 40_000;
/** For what follows a job's end: its counts, its group's next, the list of dead letters, compared every four seconds. */
const after_ms = 8_000;
const look_ms = 500;
/** When the time is over, there is more as long as the jobs left become fewer within this. */
const fewer_ms_max = 10_000;
/** How often it may be over. */
const times_max = 4;

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
 * The submitters and the schedules end; from then on there is that much time for what is left of their jobs, and more while they become
 * fewer: a busy machine has many left. Gives what has not ended when it is over, or soon after the signal.
 */
export async function settle(
  { postgres, processes }: Pick<Rig, "postgres" | "processes">,
  ms_max: number,
  signal: AbortSignal,
): Promise<Left> {
  await processes.end("submitter", submitters_ms_max, signal);
  // Otherwise a slot may come between the last look and the workers' end.
  await postgres.asAdmin((sql) => sql`DELETE FROM atlasqueue.schedules`);
  const begun = performance.now();
  let fewest = Infinity;
  let fewer_at = begun;
  for (;;) {
    const left = await postgres.asAdmin(openJobs);
    const now = performance.now();
    if (left.count < fewest) [fewest, fewer_at] = [left.count, now];
    if (left.count === 0) await pause(after_ms, signal);
    const over =
      signal.aborted || (now > begun + ms_max && (now > fewer_at + fewer_ms_max || now > begun + ms_max * times_max));
    if (left.count === 0 || over) return left.first;
    await pause(look_ms, signal);
  }
}

async function openJobs(sql: Sql): Promise<{ count: number; first: Left }> {
  const first = await sql<Record<string, unknown>[]>`
    SELECT *, now() AS at, count(*) OVER ()::int AS open
    FROM atlasqueue.jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled') LIMIT 100`;
  return { count: Number(first[0]?.["open"] ?? 0), first };
}
