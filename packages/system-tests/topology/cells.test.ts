import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, ownServers } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { startSystem } from "../system/system.ts";
import { ask } from "./harness/ask.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { startProcesses } from "./harness/topology.ts";

/** Two on each server. The tenant in each has its name. */
const names = ["a1", "b1", "a2", "b2"];

async function start() {
  const system = await startSystem();
  const second = await ownServers();
  const cells = names.map((name) => {
    const { postgres, redis } = name.endsWith("1") ? system.servers : second;
    const DATABASE_SCHEMA = name.startsWith("a") ? "atlasqueue" : "second";
    return { name, DATABASE_URL: postgres.url, DATABASE_SCHEMA, REDIS_URL: redis.url };
  });
  const CELLS_FILE = join(mkdtempSync(join(tmpdir(), "cells-")), "cells.json");
  writeFileSync(CELLS_FILE, JSON.stringify(cells));
  const migrated = await system.cli(["migrate"], { CELLS_FILE });
  expect(await migrated.waitForExit()).toEqual({ code: 0, signal: null });
  const tokens: Record<string, string> = {};
  for (const tenant of names) {
    await system.sql`INSERT INTO atlasqueue.tenants (tenant, cell) VALUES (${tenant}, ${tenant})`;
    tokens[tenant] = await system.makeToken(tenant);
  }
  const env = { CELLS_FILE, WORKER_TENANTS: "*", AUTH: "required" };
  const topology = await startProcesses(system, { env, apis: 2, workers: 3, beside: [second] });
  return { ...topology, second, tokens };
}

coreSuite({
  start,
  tenants: names,
  tests: (topology) =>
    test("while a server is down its tenants get 503, and those of the other server work as before", async () => {
      const { apis, second, tokens } = topology();
      const send = (tenant: string, ...[method, path, body]: [method: string, path: string, body?: object]) =>
        ask(apis[0]?.url ?? "", method, path, body, undefined, tokens[tenant]);
      const submit = (tenant: string) => send(tenant, "POST", "/v1/jobs", { type: "topology.step" });
      const works = async (tenant: string) => {
        await eventually(async () => expect((await submit(tenant)).status).toBe(201), { timeout_ms: 30_000 });
        const path = `/v1/jobs/${((await submit(tenant)).body as { id: string }).id}`;
        expect((await send(tenant === "b1" ? "a1" : "b1", "GET", path)).status).toBe(404);
        await eventually(async () =>
          expect((await send(tenant, "GET", path)).body).toMatchObject({ status: "succeeded" }),
        );
      };
      await second.postgres.stop();
      for (const tenant of ["a2", "b2"])
        await eventually(async () => expect(await submit(tenant)).toMatchObject({ status: 503, retry_after: "1" }));
      for (const tenant of ["a1", "b1"]) await works(tenant);
      await second.postgres.restart();
      for (const tenant of names) await works(tenant);
    }),
});
