import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDatabase, migrateDatabase } from "@atlasqueue/core";
import { createToken } from "@atlasqueue/core/internal";
import { startPostgres, startRedis, type EmbeddedPostgres } from "@atlasqueue/embedded";
import { treeCpuSeconds } from "../costs/process-usage.ts";
import { startProgram, type Program } from "../variants/programs/start-program.ts";

type Wish = {
  /** PostgreSQL servers, which the cells share evenly. One Redis has the wake-ups of all. */
  servers: number;
  cells: number;
  /** In the cells in turn. */
  tenants: number;
  apis: number;
  workers: number;
  /** Of PostgreSQL. */
  settings?: Readonly<Record<string, string>>;
};

export type System = {
  servers: readonly EmbeddedPostgres[];
  apis: readonly Pick<Program, "pid">[];
  /** Jobs that the handlers of all workers are done with. */
  handled(): number;
  /** Of the servers and the programs, in seconds. */
  cpuSeconds(): Promise<number>;
  /** Submits jobs for a tenant, to each API in its turn. */
  submit(tenant: number, jobs: number): Promise<Response>;
  stop(): Promise<void>;
};

const programs = new URL("../variants/programs/", import.meta.url);

/**
 * Cells on servers of their own, tenants in them, and the programs, as they are deployed. `stop` removes all of it.
 *
 * @example
 * const system = await startCells({ servers: 2, cells: 4, tenants: 4, apis: 2, workers: 3 });
 */
export async function startCells(wish: Wish): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-cells-"));
  // mkdtemp lets only us in; as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const redis = await startRedis({ dir: join(folder, "redis") });
  const servers = await Promise.all(
    times(wish.servers, (at) => startPostgres({ dataDir: join(folder, `postgres-${at}`), settings: wish.settings })),
  );
  const cells = times(wish.cells, (at) => {
    const server = servers[Math.floor((at * wish.servers) / wish.cells)];
    const [name, schema] = [`cell-${at}`, `cell_${at}`];
    // The connections of each cell have its name.
    return {
      name,
      DATABASE_URL: `${server?.url}?application_name=${name}`,
      DATABASE_SCHEMA: schema,
      REDIS_URL: redis.url,
    };
  });
  for (const { DATABASE_URL, DATABASE_SCHEMA: schema } of cells) await migrateDatabase(DATABASE_URL, { schema });
  const CELLS_FILE = join(folder, "cells.json");
  writeFileSync(CELLS_FILE, JSON.stringify(cells));

  const [{ DATABASE_URL: url, DATABASE_SCHEMA: schema } = { DATABASE_URL: "", DATABASE_SCHEMA: "" }] = cells;
  const database = connectDatabase({ url, schema, connectionsMax: 1, timeoutMs: 10_000 });
  const tokens: string[] = [];
  for (let at = 0; at < wish.tenants; at += 1) {
    const [tenant, cell] = [`tenant-${at}`, `cell-${at % wish.cells}`];
    await database.sql.unsafe(`INSERT INTO ${schema}.tenants (tenant, cell) VALUES ($1, $2)`, [tenant, cell]);
    const made = await createToken({ database, observe: () => {} }, { tenant, name: "bench", scopes: ["admin"] });
    if (made.kind !== "created") throw new Error(made.kind);
    tokens.push(made.token);
  }
  await database.close();

  const env = { CELLS_FILE, DATABASE_URL: "", REDIS_URL: "", AUTH: "required", WORKER_TENANTS: "*" };
  const handled = times(wish.workers, () => 0);
  const [apis, workers] = await Promise.all([
    Promise.all(times(wish.apis, () => startProgram<{ url: string }>(new URL("api.ts", programs), { env }))),
    Promise.all(
      handled.map((_, at) =>
        startProgram<Program>(new URL("worker-app.ts", programs), { env }, (message) => {
          handled[at] = (message as { handled: number }).handled;
        }),
      ),
    ),
  ]);
  const pids = [...servers, redis, ...apis, ...workers].map(({ pid }) => pid);
  let calls = 0;
  return {
    servers,
    apis,
    handled: () => handled.reduce((sum, one) => sum + one, 0),
    cpuSeconds: () => treeCpuSeconds(pids),
    submit(tenant: number, jobs: number): Promise<Response> {
      calls += 1;
      return fetch(`${apis[calls % apis.length]?.url}/v1/jobs/batch`, {
        method: "POST",
        headers: { authorization: `Bearer ${tokens[tenant]}`, "content-type": "application/json" },
        body: JSON.stringify({
          jobs: times(jobs, (n) => ({ type: "noop", payload: { n }, idempotency_key: `${calls}-${n}` })),
        }),
      });
    },
    async stop() {
      await Promise.all([...apis, ...workers].map((one) => one.stop()));
      await Promise.all([...servers, redis].map((one) => one.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
