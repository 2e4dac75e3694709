import { readdir, readFile } from "node:fs/promises";
import { forFile, steppingDatabase, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { keptTables } from "../kept-tables.ts";
import { moves } from "./moves/table.ts";
import { worldMaker } from "./world.ts";

const source = new URL("../../src/", import.meta.url);
/** What is written that is no part of a job's life. */
const besides = ["queue_counts", "queue_changes", "schedules", "operations"];

/** Statements that no move sends, by their file, and why. */
const excused: Readonly<Record<string, string>> = {
  "cells/clear.ts": "a step of a move to another cell, stopped after each in system-tests/system/cells/move.test.ts",
  "cells/hold.ts": "a step of a move as well",
  "queues/set-defaults.ts": "writes a column that only insertions read, in one statement",
  "queues/pause-all.ts": "pauses each queue as the move of one queue does, before a program takes or fires anything",
};

const own = forFile(testDatabase);
const sent: string[] = [];
beforeAll(async () => {
  const scene = await worldMaker(own.database);
  for (const { run } of Object.values(moves)) {
    const world = await scene();
    const database = steppingDatabase(own.database, (_step, _number, text) => void sent.push(text));
    await run(world, { ...world.deps, database });
  }
});

/** The beginnings of the writes in a file, as far as they are the same in each statement it makes. */
const writesIn = (text: string) => {
  const tables = keptTables.filter((table) => !besides.includes(table)).join("|");
  return [
    ...text.matchAll(new RegExp(`\\b(?:UPDATE|INSERT INTO|DELETE FROM) atlasqueue\\.(?:${tables})\\b[^\n$\`]*`, "g")),
  ].map(([line]) => line.trim());
};

test("every statement that writes jobs, or what belongs to them, is sent by a move of the explorer", async () => {
  const missing: string[] = [];
  const unneeded = new Set(Object.keys(excused));
  for (const file of await readdir(source, { recursive: true })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
    const writes = writesIn(await readFile(new URL(file, source), "utf8"));
    const unsent = writes.filter((line) => !sent.some((text) => text.includes(line)));
    if (unsent.length > 0 && excused[file]) unneeded.delete(file);
    else missing.push(...unsent.map((line) => `${file}: ${line}`));
  }
  expect(
    missing,
    "add a move that sends it to packages/core/test/explorer/moves, or say in `excused` why it needs none",
  ).toEqual([]);
  expect([...unneeded], "excused, but sent or gone").toEqual([]);
});
