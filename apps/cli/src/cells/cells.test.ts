import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDatabase } from "@atlasqueue/core";
import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";
import { serversOf } from "../../test/run-start.ts";

const store = forFile(testDatabase);
let CELLS_FILE = "";

beforeAll(async () => {
  await migrateDatabase(store.url, { schema: "east" });
  const cell = (name: string, DATABASE_SCHEMA: string) => ({ name, DATABASE_SCHEMA, ...serversOf(store.url) });
  CELLS_FILE = join(await mkdtemp(join(tmpdir(), "cells-")), "cells.json");
  const down = { ...cell("down", "x"), DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const cells = [cell("home", "atlasqueue"), cell("east", "east"), cell("empty", "nothing"), down];
  await writeFile(CELLS_FILE, JSON.stringify(cells));
});

const run = (...words: string[]) => runCli(["cells", ...words], { CELLS_FILE });

test("cells are listed with their tenants, jobs and state, also when one is down", async () => {
  expect(await run("place", "acme", "east")).toMatchObject({ code: 0, stdout: "acme is in east\n" });
  const acts = await store.database.sql`SELECT action, actor->>'kind' AS by FROM east.audit_log WHERE tenant = 'acme'`;
  expect([...acts]).toEqual([{ action: "tenant.place", by: "operator" }]);
  const { code, stdout } = await run("list", "--json");
  const { items } = JSON.parse(stdout) as { items: { name: string; tenants: number; state: string }[] };
  expect([code, items.map(({ name }) => name)]).toEqual([0, ["home", "east", "empty", "down"]]);
  expect(items.slice(0, 2)).toMatchObject([
    { tenants: 1, moving: 0, jobs: 0, state: "up" },
    { tenants: 1, state: "up" },
  ]);
  expect(items[2]?.state).toContain("its schema nothing is at migration none");
  expect(items[3]?.state).toMatch(/ECONNREFUSED|cannot|down|reach/i);
});

test("a new cell must be reachable, migrated and empty", async () => {
  expect(await run("add", "east")).toMatchObject({ code: 0, stdout: expect.stringContaining("east is ready") });
  expect(await run("add", "empty")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("run `atlasqueue migrate`"),
  });
  expect(await run("add", "west")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no cell "west"'),
  });
  await store.database.sql`SELECT east.submit('noop')`;
  expect(await run("add", "east")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("1 jobs; a new cell must be empty"),
  });
});

test("a tenant that is there already stays, and one of a cell that is down goes nowhere", async () => {
  await run("place", "beta", "east");
  expect(await run("move", "beta", "home", "--running-seconds", "x")).toMatchObject({ code: 2 });
  expect(await run("move", "beta", "down")).toMatchObject({ code: 1, stderr: expect.stringContaining("cell down: ") });
  expect(await run("drain", "west")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no cell "west"'),
  });
});
