import { setTimeout as delay } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { cpuSeconds } from "../costs/process-usage.ts";
import { onlyOurs, oursOf, type Scenario } from "./scenario.ts";

/** From the start until everything has been compiled, connected and logged. */
const settle_ms = 5_000;

/** What an API process and a worker process with nothing to do cost: processor time, and PostgreSQL transactions. */
export const idle: Scenario = {
  name: "idle",
  rounds_max: 1,
  minutes: 2,
  suits: onlyOurs,
  seconds_max: ({ idle_seconds }) => idle_seconds + 60,
  async run(variant, servers, { idle_seconds }) {
    const url = new URL(servers.postgres);
    const name = url.pathname.slice(1);
    // Looked at from another database, so that looking is not counted.
    url.pathname = "/postgres";
    const sql = postgres(url.href, { max: 1, fetch_types: false });
    const { api, worker, stop } = await oursOf(variant).startDeployed(servers);
    const look = async () => ({
      at: performance.now(),
      cpu: (await cpuSeconds(api.pid)) + (await cpuSeconds(worker.pid)),
      transactions: await transactionsOf(sql, name),
    });
    try {
      await delay(settle_ms);
      const before = await look();
      await delay(idle_seconds * 1_000);
      const after = await look();
      const seconds = (after.at - before.at) / 1_000;
      return [
        { scenario: "idle, CPU", unit: "% of a core", value: ((after.cpu - before.cpu) / seconds) * 100 },
        {
          scenario: "idle, transactions",
          unit: "per second",
          value: (after.transactions - before.transactions) / seconds,
        },
      ];
    } finally {
      await stop();
      await sql.end({ timeout: 1 });
    }
  },
};

async function transactionsOf(sql: Sql, database: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = ${database}`;
  return row?.count ?? NaN;
}
