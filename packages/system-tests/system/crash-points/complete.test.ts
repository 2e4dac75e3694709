import { readdir, readFile } from "node:fs/promises";
import { memorySignal } from "@atlasqueue/core";
import { composedStatements } from "../../../core/src/database/composed.ts";
import { beforeAll, expect, test } from "vitest";
import { beside, seamOf, seams, signalBeside, signalSeams, startOf, writes } from "./points.ts";

// A statement or a call that no fault has ever stopped is one of which nobody knows what a crash there costs.
const source = new URL("../../../core/src/", import.meta.url);
let files: string[] = [];
beforeAll(async () => {
  files = (await readdir(source, { recursive: true })).filter((file) => /(?<!\.test|-main)\.ts$/.test(file));
  for (const file of files) await import(new URL(file, source).href);
});

/**
 * They write, but are parts of others' statements, or made by the query builder. A move of a tenant to another cell is
 * stopped after each of its steps in ../cells/move.test.ts.
 */
const unnamed: Readonly<Record<string, string>> = {
  "cells/clear.ts": "a step of a move",
  "cells/copy.ts": "a step of a move",
  "cells/hold.ts": "a step of a move",
  "cells/place.ts": "a step of a move",
  "counts/changes.ts": "a part of many",
  "outbox/notes.ts": "a part of many",
  "flows/store-flow.ts": "a part of submit/insert-related",
  "groups/join.ts": "a part of many",
  "jobs/remove.ts": "a part of jobs/delete, dead-letters/purge and maintenance/prune",
  "lease/take-leases.ts": "a part of lease/claim",
  "database/migrating/script.ts": "a script for psql, and grants",
  "database/migrating/journal.ts": "what was applied, in the transaction of the migration",
  "limits/note-starts.ts": "a part of lease/claim-limited",
  "submit/unique/plan.ts": "a part of submit/insert-related",
  "schedules/pause.ts": "one row, by the query builder",
  "tokens/rows.ts": "a part of tokens/create, tokens/rotate and tokens/revoke",
  "tokens/signing-key.ts": "one row, by the query builder",
};
const built = /\bdb\s*\.(insert|update|delete)\(/;

test("each statement that commits something has its crash points, or a reason to have none", () => {
  const without = composedStatements()
    .filter(({ name, text }) => writes(text) && !seamOf(name) && !startOf(name, Object.keys(beside)))
    .map(
      ({ name }) =>
        `${name} commits something and no process has been stopped at it: add it to \`seams\` in ` +
        "packages/system-tests/system/crash-points/points.ts and have story.ts get there, or say in `beside` why it needs no points",
    );
  expect(without).toEqual([]);
});

test("each statement that commits something has a name", async () => {
  const without: string[] = [];
  for (const file of files.filter((one) => !(one in unnamed))) {
    const text = (await readFile(new URL(file, source), "utf8")).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if ((writes(text) && !text.includes("composed(")) || built.test(text))
      without.push(
        `${file} writes: name its statement with composed("room/what-it-does", …), so that a fault can stop at it`,
      );
  }
  expect(without).toEqual([]);
  expect(Object.keys(unnamed).filter((file) => !files.includes(file))).toEqual([]);
});

test("each call to the signal that changes something has its crash points, or a reason to have none", () => {
  const signal = memorySignal();
  const { deadLetters, notices, presence } = signal;
  const calls = Object.entries({ "": signal, "deadLetters.": deadLetters, "notices.": notices, "presence.": presence })
    .flatMap(([port, of]) =>
      Object.entries(of).map(([name, value]) => [`signal/${port}${name}` as string, value] as const),
    )
    .filter(([, value]) => typeof value === "function")
    .map(([name]) => name);
  expect(calls.filter((name) => !signalSeams.includes(name) && !(name in signalBeside))).toEqual([]);
  expect([...signalSeams, ...Object.keys(signalBeside)].filter((name) => !calls.includes(name))).toEqual([]);
});

test("no list names what is not there any more", () => {
  const names = composedStatements().map(({ name }) => name);
  expect(Object.keys(seams).filter((seam) => !names.some((name) => seamOf(name) === seam))).toEqual([]);
  expect(Object.keys(beside).filter((start) => !names.some((name) => startOf(name, [start])))).toEqual([]);
});
