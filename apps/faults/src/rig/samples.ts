import { readFileSync } from "node:fs";
import type { History } from "../history/open-history.ts";
import type { Rig } from "./rig.ts";

/** The name of connections that a fault takes from everybody. */
export const takenByFault = "taken-by-a-fault";

/**
 * Far above what each needs, far below what one that grows without end reaches within minutes. Lists may have as many
 * entries more as jobs wait or are dead: on a busy machine that is a lot.
 */
const bounds = { rss_mb: 700, connections: 140, list_entries: 20_000 };

/** Writes down how much of everything is in use. What cannot be asked just now is left out. */
export async function sample({ processes, postgres, redis }: Rig, history: History): Promise<void> {
  const note = (of: string, name: string, value: number, bound: number) =>
    history.invoke("sample", { of, name, value, bound }).ok({});
  for (const { name, pid } of processes.running()) {
    const mb = rssMb(pid);
    if (mb !== undefined) note("rss_mb", name, mb, bounds.rss_mb);
  }
  const asked = [
    postgres.asAdmin(async (sql) => {
      const [row] = await sql<{ count: number }[]>`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name <> ${takenByFault}`;
      note("connections", "postgres", row?.count ?? 0, bounds.connections);
    }),
    redis.asAdmin(async (to) => {
      const lists: [key: string, entries: number][] = [];
      for (const key of await to.keys("*")) if ((await to.type(key)) === "list") lists.push([key, await to.llen(key)]);
      const [row] = await postgres.asAdmin(
        (sql) =>
          sql<
            { count: number }[]
          >`SELECT count(*)::int AS count FROM atlasqueue.jobs WHERE status IN ('queued', 'dead', 'running')`,
      );
      for (const [key, entries] of lists) note("list_entries", key, entries, bounds.list_entries + (row?.count ?? 0));
    }),
  ];
  await Promise.allSettled(asked);
}

function rssMb(pid: number): number | undefined {
  try {
    const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kb === undefined ? undefined : Math.round(Number(kb) / 1_024);
  } catch {
    return undefined;
  }
}
