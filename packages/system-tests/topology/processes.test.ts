import postgres from "postgres";
import { expect, test } from "vitest";
import { eventually, pgBouncer, type SpawnedProcess } from "@atlasqueue/harness";
import { inParallel, startSystem } from "../system/system.ts";
import { insist } from "./harness/ask.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { startProcesses } from "./harness/topology.ts";

const apis = 4;
const workers = 8;
/** What they may open by default: ten or five each, and one more in trouble. */
const connections_max = apis * 11 + workers * 7;
const pool_size = 20;
/** Submitted by a hundred callers at once. */
const jobs = 3_000;

async function start() {
  const system = await startSystem();
  const pooler = await pgBouncer(system.servers.postgres.url, { pool_size });
  const env = { DATABASE_URL: pooler.url, API_PROCESSES: String(apis), WORKER_PROCESSES: String(workers) };
  const topology = await startProcesses(system, { env, workers: 1, beside: [pooler] });
  const [api, worker] = topology.programs as [SpawnedProcess, SpawnedProcess];
  await eventually(() => expect(times(api, "api_started")).toBe(apis), started);
  await eventually(() => expect(times(worker, "worker_started")).toBe(workers), started);
  return { ...topology, api, worker, pooler };
}

const started = { timeout_ms: 120_000 };
const times = ({ logs }: SpawnedProcess, name: string) => logs.filter(({ event }) => event === name).length;

/** Kills as many processes as asked of those that a program has started and that have not died yet. */
function killSome({ logs }: SpawnedProcess, count: number): number[] {
  const pids = new Map<unknown, number>();
  for (const { event, number, pid } of logs) if (event === "process_started") pids.set(number, Number(pid));
  const killed = [...pids.values()].slice(0, count);
  for (const pid of killed) process.kill(pid, "SIGKILL");
  return killed;
}

type Pool = { cl_active: number; cl_waiting: number; sv_active: number; sv_idle: number; maxwait: number };

/** What PgBouncer says of the system's database. */
async function poolOf(pooler_url: string): Promise<{ clients: number; servers: number; waited_s: number }> {
  const url = new URL(pooler_url);
  const database = url.pathname.slice(1);
  url.pathname = "/pgbouncer";
  const sql = postgres(url.href, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} });
  try {
    const rows = await sql.unsafe<(Pool & { database: string })[]>("SHOW POOLS").simple();
    const pool = rows.find((row) => row.database === database);
    const sum = (...names: (keyof Pool)[]) => names.reduce((all, name) => all + Number(pool?.[name] ?? 0), 0);
    return {
      clients: sum("cl_active", "cl_waiting"),
      servers: sum("sv_active", "sv_idle"),
      waited_s: sum("maxwait"),
    };
  } finally {
    await sql.end();
  }
}

coreSuite({
  start,
  outages: [
    {
      name: `2 of ${apis} API processes are killed`,
      breaks_connections: true,
      async fault({ api }) {
        const before = times(api, "api_started");
        killSome(api, 2);
        await eventually(() => expect(times(api, "api_started")).toBe(before + 2), started);
      },
    },
    {
      name: `4 of ${workers} worker processes are killed`,
      async fault({ worker }) {
        const before = times(worker, "worker_started");
        const killed = killSome(worker, 4);
        await eventually(() => expect(times(worker, "worker_started")).toBe(before + 4), started);
        return { killed };
      },
    },
    { name: "PgBouncer is killed and started again", fault: ({ pooler }) => pooler.restart() },
  ],
  tests: (topology) =>
    test(`${apis} API and ${workers} worker processes at work need no more connections than their settings say`, async ({
      annotate,
    }) => {
      const { url } = topology().apis[0] ?? { url: "" };
      const { pooler } = topology();
      const submitted = inParallel(jobs, 100, (at) =>
        insist(url, "POST", "/v1/jobs", { body: { type: "topology.step" }, key: `crowd-${at}` }),
      );
      let over = false;
      const end = () => void (over = true);
      submitted.then(end, end);
      let most = { clients: 0, servers: 0, waited_s: 0 };
      await eventually(
        async () => {
          const now = await poolOf(pooler.url);
          most = {
            clients: Math.max(most.clients, now.clients),
            servers: Math.max(most.servers, now.servers),
            waited_s: Math.max(most.waited_s, now.waited_s),
          };
          return over;
        },
        { timeout_ms: 120_000, interval_ms: 50 },
      );
      await submitted;
      await annotate(`of ${connections_max} and ${pool_size}: ${JSON.stringify(most)}`);
      expect(most.clients).toBeLessThanOrEqual(connections_max);
      expect(most.servers).toBeLessThanOrEqual(pool_size);
    }),
});
