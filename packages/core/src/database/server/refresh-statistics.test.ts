import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refreshStatistics, statisticsAreStale } from "./refresh-statistics.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

const areStale = () => statisticsAreStale(own.database);

test.each(["job_groups", "queue_starts"])(
  "a table %s that has grown is noticed, and its statistics are refreshed",
  async (table) => {
    const { sql } = own.database;
    // Autovacuum may have got there first.
    await sql.unsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    expect(await areStale()).toBe(false);
    if (table === "job_groups")
      await sql`INSERT INTO job_groups SELECT 'default', 'default', 'g' || n, 1, 1, '{}' FROM generate_series(1, 20_000) AS n`;
    else
      await sql`INSERT INTO queue_starts SELECT 'default', 'default', 'g' || n, now(), 1 FROM generate_series(1, 20_000) AS n`;
    expect(await areStale()).toBe(true);
    await refreshStatistics(own.database);
    expect(await areStale()).toBe(false);
    const [known] = await sql<{ reltuples: number }[]>`SELECT reltuples FROM pg_class WHERE oid = ${table}::regclass`;
    expect(known?.reltuples).toBe(20_000);
  },
);
