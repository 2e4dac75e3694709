import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import type { Database } from "../database/connect.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { driftingTenants } from "./compare.ts";
import { createOverview } from "./overview.ts";

const jobs = 300;
let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'succeeded', now(), now(), now(), '{}' FROM generate_series(1, ${jobs}::int)`;
  await own.database.sql`INSERT INTO queue_counts (tenant, queue, succeeded) VALUES ('default', 'default', ${jobs})`;
});
afterAll(() => own.drop());

test("counts are compared with the jobs only where the kept counts say that there are few: otherwise no job is read", async () => {
  const reads = (jobs_max: number) => rowsRead(own.database, (deps) => driftingTenants(deps, jobs_max), "jobs");
  expect(await reads(jobs - 1)).toBe(0);
  expect(await reads(jobs)).toBeGreaterThanOrEqual(jobs);
  expect(await driftingTenants(own, jobs - 1)).toBeUndefined();
  expect(await driftingTenants(own, jobs)).toEqual(new Set());
  await own.database.sql`UPDATE queue_counts SET succeeded = ${jobs - 5}`;
  expect(await driftingTenants(own, jobs)).toEqual(new Set(["default"]));
  await own.database.sql`UPDATE queue_counts SET succeeded = ${jobs}`;
});

test("the overview asks two things of the database at once, as the first answer opens a connection for each", async () => {
  let under_way = 0;
  let most = 0;
  const unsafe = ((...statement: Parameters<typeof own.database.sql.unsafe>) => {
    const query = own.database.sql.unsafe(...statement);
    most = Math.max(most, (under_way += 1));
    const ended = () => (under_way -= 1);
    query.then(ended, ended);
    return query;
  }) as typeof own.database.sql.unsafe;
  const database = { ...own.database, sql: { unsafe } as Database["sql"] };
  const observe = recordEvents().observe;
  const overviewOf = createOverview({ database, observe, signal: memorySignal() });
  expect((await overviewOf("default")).counts.succeeded).toBe(jobs);
  expect(most).toBeLessThanOrEqual(2);
});
