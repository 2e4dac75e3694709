import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { refreshStatistics, staleTables } from "./refresh-statistics.ts";

const own = forFile(testDatabase);

const stale = () => staleTables(own.database);

test.each(["job_groups", "queue_starts"])(
  "a table %s that has grown is noticed, and its statistics are refreshed, but no other's",
  async (table) => {
    const { sql } = own.database;
    // Autovacuum may have got there first.
    for (const one of [table, "claims"])
      await sql.unsafe(`ALTER TABLE atlasqueue.${one} SET (autovacuum_enabled = false)`);
    await refreshStatistics(own.database);
    expect(await stale()).toEqual([]);
    await sql`INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids) VALUES ('default', gen_random_uuid(), 'w', now(), '{}')`;
    if (table === "job_groups")
      await sql`INSERT INTO atlasqueue.job_groups SELECT 'default', 'default', 'g' || n, 1, 1, '{}' FROM generate_series(1, 20_000) AS n`;
    else
      await sql`INSERT INTO atlasqueue.queue_starts SELECT 'default', 'default', 'g' || n, now(), 1 FROM generate_series(1, 20_000) AS n`;
    expect(await stale()).toEqual([table]);
    const known = async (name: string) =>
      (
        await sql<{ reltuples: number }[]>`SELECT reltuples FROM pg_class WHERE oid = ${`atlasqueue.${name}`}::regclass`
      )[0]?.reltuples;
    const claims = await known("claims");
    await refreshStatistics(own.database, await stale());
    expect(await stale()).toEqual([]);
    expect([await known(table), await known("claims")]).toEqual([20_000, claims]);
  },
);

test("no other table of the database is opened, so that a lock on one holds nothing up", async () => {
  const { sql } = own.database;
  await sql`CREATE TABLE theirs (n integer)`;
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE theirs IN ACCESS EXCLUSIVE MODE`;
    // It would meet this deadline, were it to wait for the lock.
    expect(await staleTables({ ...own.database, timeout_ms: 2_000 })).not.toContain("theirs");
  });
});
