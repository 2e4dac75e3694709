import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { cpuSeconds } from "../costs/process-usage.ts";
import { startCells } from "./start-cells.ts";

const cells = 50;
/** Until what a start opened has closed again. */
const settle_ms = 30_000;
const looks_ms = 100;
/** Its fifty schemas are made sooner so. */
const settings = { max_connections: "500", fsync: "off" };

/** What an API with fifty cells and nothing to do costs: processor time, and connections to each cell. */
export async function idle(seconds: number, tell: (line: string) => void): Promise<void> {
  const system = await startCells({ servers: 1, cells, tenants: 1, apis: 1, workers: 0, settings });
  const [server, api] = [system.servers[0], system.apis[0]];
  if (!server || !api) throw new Error("nothing was started");
  const sql = postgres(server.url, { max: 1, fetch_types: false });
  try {
    await delay(settle_ms);
    const [began, before] = [performance.now(), await cpuSeconds(api.pid)];
    const seen: number[] = [];
    const third = new Map<string, number>();
    let most = 0;
    while (performance.now() - began < seconds * 1_000) {
      const rows = await sql<{ count: number; queries: string[] }[]>`
        SELECT count(*)::int, array_to_json(array_agg(query ORDER BY backend_start)) AS queries
        FROM pg_stat_activity WHERE application_name LIKE 'cell-%' GROUP BY application_name`;
      seen.push(rows.reduce((sum, { count }) => sum + count, 0) / cells);
      for (const { count, queries } of rows) {
        most = Math.max(most, count);
        for (const query of queries.slice(2)) third.set(query, (third.get(query) ?? 0) + 1);
      }
      await delay(looks_ms);
    }
    const cpu = ((await cpuSeconds(api.pid)) - before) / ((performance.now() - began) / 1_000);
    const mean = seen.reduce((sum, one) => sum + one, 0) / seen.length;
    tell(`An API with ${cells} idle cells uses ${(cpu * 100).toFixed(1)} % of a core`);
    tell(
      `Connections to a cell: ${mean.toFixed(2)} on average, ${Math.max(...seen).toFixed(2)} at worst; ${most} to one cell at worst`,
    );
    for (const [query, count] of [...third].toSorted(([, a], [, b]) => b - a).slice(0, 5))
      tell(`the third was used ${count} times for: ${query.replaceAll(/\s+/g, " ").slice(0, 120)}`);
  } finally {
    await sql.end();
    await system.stop();
  }
}
