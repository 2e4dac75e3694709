import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { cellVariables } from "./cells-file.ts";
import { cellSettings, readCells } from "./cells.ts";
import { serverConfig, serverSettings } from "./server-settings.ts";
import { parseSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "cells-"));
const fileOf = (text: string) => {
  const file = join(folder, `${Math.random()}.json`);
  writeFileSync(file, text);
  return file;
};
const cellsFile = (...cells: unknown[]) => ({ CELLS_FILE: fileOf(JSON.stringify(cells)) });
const home = { name: "home", DATABASE_URL: "postgres://u:s3cret@one/atlasqueue", REDIS_URL: "redis://r1" };

test("without CELLS_FILE there is one cell, home", () => {
  const env = { DATABASE_URL: "postgres://one/a", REDIS_URL: "redis://r", DATABASE_SCHEMA: "own" };
  const keys = { jobs: "own:jobs", deadLetters: "own:dlq" };
  expect(readCells(env)).toEqual([
    { name: "home", database: { url: env.DATABASE_URL, schema: "own" }, redis: { url: env.REDIS_URL, keys } },
  ]);
});

test("with CELLS_FILE, the first cell's servers stand for the environment's, and DATABASE_URL may be left out", () => {
  const b = { name: "b", DATABASE_URL: "postgres://one/atlasqueue", DATABASE_SCHEMA: "cell_b" };
  const env = { ...cellsFile(home, b), REDIS_URL: "redis://ignored", DATABASE_SCHEMA: "ignored" };
  const set = parseSettings(z.object(serverSettings), env);
  const config = serverConfig({ ...set, DATABASE_CONNECTIONS_MAX: 3, DATABASE_TIMEOUT_SECONDS: 2 });
  expect(config.database).toEqual(config.cells[0].database);
  expect(config.cells.map(({ name, database, redis }) => [name, database.schema, redis?.keys.jobs])).toEqual([
    ["home", "atlasqueue", "atlasqueue:jobs"],
    ["b", "cell_b", undefined],
  ]);
  expect(config.cells[1]?.database).toMatchObject({ url: b.DATABASE_URL, connectionsMax: 3, timeoutMs: 2_000 });
});

test("a cell may have all that its servers need, secrets in files of their own too", () => {
  expect([...cellVariables].filter((name) => !name.endsWith("URL_FILE"))).toEqual(
    expect.arrayContaining(Object.keys(cellSettings).filter((name) => name !== "CELLS_FILE")),
  );
  const url = "postgres://two/atlasqueue";
  const [, b] = readCells(cellsFile(home, { name: "b", DATABASE_URL_FILE: fileOf(`${url}\n`) }));
  expect(b?.database).toEqual({ url, schema: "atlasqueue" });
});

const other = (own: object) => cellsFile(home, { name: "b", DATABASE_URL: "postgres://two/a", ...own });
test.each([
  [
    { CELLS_FILE: "/nowhere" },
    /^CELLS_FILE must be the path of a JSON file with a list of .*; got "\/nowhere": ENOENT$/,
  ],
  [{ CELLS_FILE: fileOf("[s3cret") }, ": it is not JSON"],
  [{ CELLS_FILE: fileOf("{}") }, ": it has no such list"],
  [cellsFile(), ": it has no such list"],
  [other({ name: "B" }), /, each with a name of up to 31 characters of a-z.*: cell 2 is wrong in name$/],
  [cellsFile(home, 5), ": cell 2 is wrong in itself"],
  [other({ SCHEMA: "s3cret" }), /, and as strings DATABASE_URL, .*: cell 2 is wrong in SCHEMA$/],
  [other({ DATABASE_SCHEMA: 5 }), ": cell 2 is wrong in DATABASE_SCHEMA"],
  [other({ name: "home" }), "CELLS_FILE must give each cell another name; home and home have the same"],
  [
    other({ DATABASE_URL: "postgres://v@one:5432/atlasqueue" }),
    "CELLS_FILE must give each cell a schema of its own; home and b have the same",
  ],
  [
    other({ REDIS_URL: "redis://r1" }),
    "give each cell a REDIS_URL, a DATABASE_SCHEMA, or a JOB_QUEUE_KEY and a DLQ_KEY",
  ],
  [
    other({ REDIS_URL: "redis://r1", JOB_QUEUE_KEY: "b:jobs" }),
    "or a JOB_QUEUE_KEY and a DLQ_KEY of its own; home and",
  ],
  [other({ REDIS_URL: "redis://r1", DLQ_KEY: "b:dlq" }), "or a JOB_QUEUE_KEY and a DLQ_KEY of its own; home and b"],
  [other({ DATABASE_SCHEMA: "Has Blank" }), "CELLS_FILE: cell b: DATABASE_SCHEMA must be"],
  [other({ DATABASE_URL: "http://u:s3cret@two" }), "CELLS_FILE: cell b: DATABASE_URL must be"],
  [other({ DATABASE_URL: "" }), "CELLS_FILE: cell b: DATABASE_URL is not set"],
])("CELLS_FILE %# is refused in a line that shows no secret", (env, line) => {
  expect(() => readCells(env)).toThrow(line);
  expect(() => readCells(env)).not.toThrow("s3cret");
});
