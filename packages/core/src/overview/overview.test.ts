import { forFile, recordEvents, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { countDrift } from "../counts/job-checks.ts";
import type { Database } from "../database/connect.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { createOverview } from "./overview.ts";

const jobs = 300;
const own = forFile(testDatabase);
beforeAll(async () => {
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'succeeded', now(), now(), now(), '{}' FROM generate_series(1, ${jobs}::int)`;
  await own.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) VALUES ('default', 'default', ${jobs})`;
});

test("a tenant with many wrong counts does not hide that another's are wrong", async () => {
  await own.database.sql`INSERT INTO atlasqueue.tenants (tenant) VALUES ('a')`;
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) SELECT 'a', 'q' || n, 1 FROM generate_series(1, 30) AS n`;
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs - 5} WHERE tenant = 'default'`;
  const { places, drifted } = await countDrift(own, 2 * jobs);
  expect([places, drifted.length]).toEqual([31, 20]);
  await own.database.sql`DELETE FROM atlasqueue.queue_counts WHERE tenant = 'a'`;
  await own.database.sql`UPDATE atlasqueue.queue_counts SET succeeded = ${jobs}`;
});

test("a look for how late the sweep is that takes long delays the overview by a second at most", async () => {
  const unsafe = ((text: string, ...rest: [never?, never?]) =>
    own.database.sql.unsafe(
      text.includes("late_ms") ? "SELECT pg_sleep(600)" : text,
      ...rest,
    )) as Database["sql"]["unsafe"];
  const database = { ...own.database, sql: { unsafe } as Database["sql"] };
  const overviewOf = createOverview({ database, observe: recordEvents().observe, signal: memorySignal() });
  const { counts, problems } = await overviewOf("default");
  expect([counts.succeeded, problems]).toEqual([jobs, []]);
});
