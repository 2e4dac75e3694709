import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import { countDrift } from "../counts/drift.ts";
import type { Database } from "../database/connect.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { driftingTenants } from "./compare.ts";
import { createOverview } from "./overview.ts";

const jobs = 300;
let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'succeeded', now(), now(), now(), '{}' FROM generate_series(1, ${jobs}::int)`;
  await own.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) VALUES ('default', 'default', ${jobs})`;
});
afterAll(() => own.drop());

test("counts are compared with the jobs only where the kept counts say that there are few: otherwise no job is read", async () => {
  const reads = (jobs_max: number) => rowsRead(own.database, (deps) => driftingTenants(deps, jobs_max), "jobs");
  expect(await reads(jobs - 1)).toBe(0);
  expect(await reads(jobs)).toBeGreaterThanOrEqual(jobs);
  expect(await driftingTenants(own, jobs - 1)).toBeUndefined();
  expect(await driftingTenants(own, jobs)).toEqual(new Set());
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs - 5}`;
  expect(await driftingTenants(own, jobs)).toEqual(new Set(["default"]));
  // Kept counts too low to say that there are too many: not "all is well".
  expect(await driftingTenants(own, jobs - 1)).toBeUndefined();
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs}`;
});

test("a tenant with many wrong counts does not hide that another's are wrong", async () => {
  await own.database.sql`INSERT INTO atlasqueue.tenants (tenant) VALUES ('a')`;
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) SELECT 'a', 'q' || n, 1 FROM generate_series(1, 30) AS n`;
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs - 5} WHERE tenant = 'default'`;
  expect(await driftingTenants(own, 2 * jobs)).toEqual(new Set(["a", "default"]));
  const { places, drifted } = await countDrift(own, 2 * jobs);
  expect([places, drifted.length]).toEqual([31, 20]);
  await own.database.sql`DELETE FROM atlasqueue.queue_counts WHERE tenant = 'a'`;
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs}`;
});

test("a sweep's look that takes long delays no overview, and is asked for once for all who want one", async () => {
  let looks = 0;
  let free = () => {};
  const freed = new Promise<void>((resolve) => (free = resolve));
  const unsafe = ((...statement: Parameters<typeof own.database.sql.unsafe>) => {
    if (!statement[0].includes("newest_dead")) return own.database.sql.unsafe(...statement);
    // Not its parts, which are asked for one by one when all of them together are late.
    if (statement[0].includes("any_queued")) looks += 1;
    return freed.then(() => []);
  }) as typeof own.database.sql.unsafe;
  const database = { ...own.database, sql: { unsafe } as Database["sql"] };
  const overviewOf = createOverview({ database, observe: recordEvents().observe, signal: memorySignal() });
  for (const { counts } of await Promise.all([overviewOf("default"), overviewOf("default")]))
    expect(counts.succeeded).toBe(jobs);
  expect(looks).toBe(1);
  free();
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

test("a job that waits in one of a thousand queues is found though all others have longer backlogs, and then kept in sight", async () => {
  const tenant = "wide";
  await own.database.sql`INSERT INTO atlasqueue.tenants (tenant) VALUES (${tenant})`;
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, ready_at, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), ${tenant}, 'q' || n, 'a', 'queued', at, at, at, at, '{}'
    FROM generate_series(1, 1000) AS n, LATERAL (SELECT now() - interval '1 s' * CASE n WHEN 500 THEN 900 ELSE 1 END AS at)`;
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, queued)
    SELECT ${tenant}, 'q' || n, CASE n WHEN 500 THEN 1 ELSE 2 END FROM generate_series(1, 1000) AS n`;
  const overviewOf = createOverview({ ...own, observe: recordEvents().observe, signal: memorySignal() });
  const oldest = async () => (await overviewOf(tenant)).oldest_queued?.queue;
  for (let look = 0; look < 4; look += 1) await oldest();
  expect(await oldest()).toBe("q500");
  expect(await oldest()).toBe("q500");
  // Not from memory: it is looked at again.
  await own.database.sql`UPDATE atlasqueue.queue_counts SET queued = 0 WHERE tenant = ${tenant} AND queue = 'q500'`;
  expect(await oldest()).not.toBe("q500");
});
