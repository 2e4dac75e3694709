import { readFileSync } from "node:fs";
import { pgBouncer } from "@atlasqueue/harness";
import { startSystem } from "../../system/system.ts";
import type { Outage } from "./outage.ts";
import { startProcesses } from "./topology.ts";

/** What operators are told to set. */
function recommended(): Record<string, string> {
  const text = readFileSync(new URL("../../../deploy/pgbouncer.ini", import.meta.url), "utf8");
  const [, pooling = ""] = text.split("; pooling\n");
  return Object.fromEntries(
    pooling
      .trim()
      .split("\n")
      .map((line) => line.split(" = ") as [string, string]),
  );
}

/** The programs behind a PgBouncer that keeps prepared statements, or keeps none. */
export async function startBehindPooler({ keeps_statements }: { keeps_statements: boolean }) {
  const system = await startSystem();
  // Fewer connections than one of the processes has: hardly a statement meets the connection it was prepared on.
  const settings = { ...recommended(), default_pool_size: 4 };
  const pooler = await pgBouncer(system.servers.postgres.url, { pool_size: 4, settings, keeps_statements });
  return { ...(await startProcesses(system, { env: { DATABASE_URL: pooler.url }, beside: [pooler] })), pooler };
}

type BehindPooler = Awaited<ReturnType<typeof startBehindPooler>>;

export const poolerOutages: readonly Outage<BehindPooler>[] = [
  { name: "PgBouncer is killed and started again", fault: ({ pooler }) => pooler.restart() },
  { name: "PostgreSQL is restarted behind it", fault: ({ system }) => system.servers.postgres.restart() },
];

/** How often each process said that it does without prepared statements. */
export function timesUnprepared({ apis, workers }: BehindPooler): number[] {
  const processes = [...apis.map((api) => api.process), ...workers];
  return processes.map(({ logs }) => logs.filter(({ event }) => event === "prepared_statements_disabled").length);
}
