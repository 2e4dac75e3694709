import { brokenConnection, eventually, forFile, steppingDatabase, testCore } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Deps } from "../deps.ts";
import { newId, firstId } from "../ids.ts";
import { createLogger } from "../observe/log.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { clearResults, resultsStep, type ResultsPlace } from "./clear-results.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const deps = forFile(testCore);

const insert = async (status: "succeeded" | "cancelled", finished_seconds_ago: number): Promise<string> => {
  const id = newId();
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload, result)
    VALUES (${id}, 'noop', ${status}, now(), now(), now(), now() - ${finished_seconds_ago} * interval '1 second', '{}', '"r"')`;
  return id;
};
/** Passes over the results, one after the other. */
const clearer = (some: Deps, ttl_seconds: number) => {
  const place: ResultsPlace = {};
  const parts = { ...some, signal: memorySignal(), logger: createLogger("silent", "test") };
  return async () => {
    const step = resultsStep(parts, ttl_seconds, { results: 0 }, place);
    while (await step());
  };
};
const versions = async () =>
  deps.database.sql<
    { id: string; result: unknown; xmin: string }[]
  >`SELECT id, result, xmin::text FROM atlasqueue.jobs ORDER BY id`;

test("results go when their time is up, once, in steps; younger ones and other jobs' stay", async () => {
  const old = [await insert("succeeded", 100), await insert("succeeded", 100), await insert("succeeded", 100)];
  const kept = [await insert("succeeded", 50), await insert("cancelled", 100)];
  const first = await clearResults(deps, 60, firstId, lastId, 2);
  expect(first).toMatchObject({ jobs: 2, last: old[1], more: true });
  const second = await clearResults(deps, 60, first.last ?? "", lastId, 10);
  expect(second).toMatchObject({ jobs: 1, last: kept[1], more: false });
  const rows = await versions();
  expect(rows.filter(({ result }) => result === null).map(({ id }) => id)).toEqual(old);
  expect(rows.filter(({ result }) => result === "r").map(({ id }) => id)).toEqual(kept);

  expect(await clearResults(deps, 60, firstId, lastId, 10)).toMatchObject({ jobs: 0 });
  expect(await versions()).toEqual(rows);
});

test("a full pass that fails halfway goes on at the next call, not six hours later", async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload, result)
    SELECT ('0198aaaa-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'noop', 'succeeded', now(), now(), now(),
           now() - interval '1 day', '{}', '"r"'
    FROM generate_series(1, 600) AS n`;
  let pages = 0;
  const database = steppingDatabase(deps.database, (step, _number, text) => {
    if (step === "statement" && text.includes("SET result") && (pages += 1) === 2) throw brokenConnection();
  });
  const clear = clearer({ ...deps, database }, 60);
  const left = async () =>
    (
      await sql`SELECT FROM atlasqueue.jobs WHERE id < '0198aaab-0000-7000-8000-000000000000' AND result::text <> 'null'`
    ).length;
  await expect(clear()).rejects.toThrow();
  expect(await left()).toBe(100);
  await clear();
  expect(await left()).toBe(0);
});

test.each([-1, 1])("what is of age goes at once where this machine's clock is %i h off", async (hours) => {
  const away = async () => (await versions()).filter(({ result }) => result === null).map(({ id }) => id);
  const passed = await insert("succeeded", 3_700);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const clear = clearer(deps, 0);
  await clear();
  vi.useRealTimers();
  // Made since the full pass of the first time.
  const next = await insert("succeeded", 3_700);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
  // It may have been made in the same millisecond.
  await eventually(async () => {
    await clear();
    expect(await away()).toEqual(expect.arrayContaining([passed, next]));
  });
});
