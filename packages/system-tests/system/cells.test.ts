// @module-tag slow
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDatabase } from "@atlasqueue/core";
import { createToken } from "@atlasqueue/core/internal";
import { freePort } from "@atlasqueue/embedded";
import { commandFile, eventually, forFile, ownServers, spawnProcess } from "@atlasqueue/harness";
import { expect, test } from "vitest";

/** Two servers with two cells each, and a tenant in each cell. */
async function fourCells() {
  const servers = [await ownServers(), await ownServers()] as const;
  const cells = servers.flatMap(({ postgres, redis }, at) =>
    ["atlasqueue", "second"].map((schema) => ({
      name: `${schema === "second" ? "b" : "a"}${at + 1}`,
      DATABASE_URL: postgres.url,
      DATABASE_SCHEMA: schema,
      REDIS_URL: redis.url,
    })),
  );
  const CELLS_FILE = join(mkdtempSync(join(tmpdir(), "cells-")), "cells.json");
  writeFileSync(CELLS_FILE, JSON.stringify(cells));
  const env = { CELLS_FILE, DATABASE_URL: "", REDIS_URL: "", LOG_LEVEL: "error", WORKER_TENANTS: "*" };
  const stop = async () => void (await Promise.all(servers.map((one) => one.stop())));
  return { servers, cells, env, stop };
}
const system = forFile(fourCells);

async function startProgram(name: "api" | "worker", more: Record<string, string> = {}): Promise<string> {
  const port = String(await freePort());
  const ports = name === "api" ? { API_PORT: port } : { WORKER_METRICS_PORT: port };
  const started = await spawnProcess(commandFile, { args: [name], env: { ...system.env, ...ports, ...more } });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/livez`)).ok;
  await eventually(isUp, { timeout_ms: 60_000 }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${[...started.lines, ...started.errorLines].join("\n")}`);
  });
  return url;
}

/** A tenant of each cell with its token, in the order of the cells. */
async function makeTenants(): Promise<string[]> {
  const [home] = system.cells;
  const database = connectDatabase({ url: home?.DATABASE_URL ?? "", connectionsMax: 1, timeoutMs: 10_000 });
  const tokens: string[] = [];
  for (const { name } of system.cells) {
    const tenant = `tenant-${name}`;
    await database.sql`INSERT INTO atlasqueue.tenants (tenant, cell) VALUES (${tenant}, ${name})`;
    const made = await createToken({ database, observe: () => {} }, { tenant, name: "test", scopes: ["admin"] });
    if (made.kind !== "created") throw new Error(made.kind);
    tokens.push(made.token);
  }
  await database.close();
  return tokens;
}

test("tenants of four cells on two servers work side by side, and one server's end stops only its own", async () => {
  const migrated = await spawnProcess(commandFile, { args: ["migrate"], env: system.env });
  expect(await migrated.waitForExit()).toEqual({ code: 0, signal: null });
  expect(migrated.lines).toHaveLength(4);
  const tokens = await makeTenants();
  const apis = await Promise.all(Array.from({ length: 2 }, () => startProgram("api", { AUTH: "required" })));
  await Promise.all(["*", "*", "a1,b2"].map((WORKER_CELLS) => startProgram("worker", { WORKER_CELLS })));

  let calls = 0;
  const send = (at: number, method: string, path: string, body?: object) =>
    fetch(`${apis[(calls += 1) % 2]}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${tokens[at]}`,
        "content-type": "application/json",
        "idempotency-key": String(calls),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const submit = (at: number, queue = "default") => send(at, "POST", "/v1/jobs", { type: "noop", queue });
  const idsOf = async (at: number, query: string) => {
    const { items } = (await (await send(at, "GET", `/v1/jobs?${query}`)).json()) as { items: { id: string }[] };
    return items.map(({ id }) => id).toSorted();
  };
  const every = system.cells.map((_, at) => at);
  /** Runs ten jobs by the workers, and one over HTTP. */
  const work = async (at: number) => {
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      const answer = await submit(at);
      expect(answer.status).toBe(201);
      ids.push(((await answer.json()) as { id: string }).id);
    }
    const succeeded = () => idsOf(at, "status=succeeded&queue=default&limit=100");
    await eventually(async () => expect(await succeeded()).toEqual(expect.arrayContaining(ids)), {
      timeout_ms: 60_000,
    });
    await submit(at, "remote");
    const leased = await send(at, "POST", "/v1/queues/remote/lease", { worker_id: "w", wait_seconds: 5 });
    const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
    const { job, lease_token } = jobs[0] ?? { job: { id: "none" }, lease_token: "" };
    expect((await send(at, "POST", `/v1/jobs/${job.id}/ack`, { lease_token })).status).toBe(200);
    return ids;
  };
  const ran = await Promise.all(every.map(work));
  // Each tenant sees its own jobs only.
  for (const at of every) expect(await idsOf(at, "queue=default&limit=100")).toEqual(ran[at]?.toSorted());

  await system.servers[1].postgres.stop();
  for (const at of [2, 3])
    await eventually(async () => {
      const answer = await submit(at);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    });
  await Promise.all([0, 1].map(work));
  await system.servers[1].postgres.restart();
  await eventually(async () => expect([(await submit(2)).status, (await submit(3)).status]).toEqual([201, 201]), {
    timeout_ms: 30_000,
  });
  await Promise.all(every.map(work));
}, 180_000);
