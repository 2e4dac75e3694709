import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { clearResults } from "./clear-results.ts";
import { firstId } from "./prune.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
let own: TestDatabase;
let deps: Deps;
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
});
afterAll(() => own.drop());

const insert = async (status: "succeeded" | "cancelled", finished_seconds_ago: number): Promise<string> => {
  const id = newId();
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload, result)
    VALUES (${id}, 'noop', ${status}, now(), now(), now(), now() - ${finished_seconds_ago} * interval '1 second', '{}', '"r"')`;
  return id;
};
const versions = async () =>
  own.database.sql<
    { id: string; result: unknown; xmin: string }[]
  >`SELECT id, result, xmin::text FROM jobs ORDER BY id`;

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
