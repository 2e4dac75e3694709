import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";
import { startSystem } from "../start/start.ts";

const CELLS_FILE = join(mkdtempSync(join(tmpdir(), "cells-")), "cells.json");
const cells = ["home", "east"].map((name) => ({ name, DATABASE_URL: `postgres://127.0.0.1:1/${name}` }));
writeFileSync(CELLS_FILE, JSON.stringify(cells));

test.each(["migrate", "doctor"])("%s --cell names the cells that there are", async (command) => {
  const { code, stderr } = await runCli([command, "--cell", "west"], { CELLS_FILE });
  expect([code, stderr]).toEqual([1, '--cell must be one of home, east; got "west"\n']);
});

test("doctor checks all cells", async () => {
  const { code, stdout } = await runCli(["doctor", "--json"], { CELLS_FILE });
  const found = { ok: false, checks: expect.arrayContaining([expect.objectContaining({ state: "wrong" })]) };
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    { ok: false, cells: cells.map(({ name }) => ({ cell: name, ...found })) },
  ]);
});

test("migrate --print writes the SQL of each cell, or of the one that is named", async () => {
  const scripts = async (...more: string[]) => {
    const { stdout } = await runCli(["migrate", "--print", ...more], { CELLS_FILE });
    return stdout.split("CREATE TABLE").length - 1;
  };
  const one = await scripts("--cell", "east");
  expect(one).toBeGreaterThan(10);
  expect(await scripts()).toBe(2 * one);
});

test("start refuses a file of cells", async () => {
  const starting = startSystem({ CELLS_FILE }, { stdout: new PassThrough(), stop: new AbortController().signal });
  await expect(starting).rejects.toThrow(
    "CELLS_FILE is for `atlasqueue migrate`, `api` and `worker`; `start` runs one",
  );
});
