import { readFileSync } from "node:fs";
import type { History } from "../history/open-history.ts";
import type { Rig } from "./rig.ts";

/** Far above what each needs, far below what one that grows without end reaches within minutes. */
const bounds = { rss_mb: 700, connections: 150, list_entries: 20_000 };

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
      const [row] = await sql<{ count: number }[]>`SELECT count(*)::int AS count FROM pg_stat_activity`;
      note("connections", "postgres", row?.count ?? 0, bounds.connections);
    }),
    redis.asAdmin(async (to) => {
      for (const key of await to.keys("*"))
        if ((await to.type(key)) === "list") note("list_entries", key, await to.llen(key), bounds.list_entries);
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
