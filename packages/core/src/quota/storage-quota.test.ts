import { eventually, forFile, submission, testCore } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { enqueue } from "../submit/enqueue.ts";
import { createStorageQuota, StorageFullError } from "./storage-quota.ts";

const deps = forFile(testCore);
beforeEach(
  () =>
    deps.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.idempotency_keys`,
);

const bytes = 20_000;
/** Not to be compressed. */
const fill = () => Array.from({ length: bytes / 10 }, () => Math.random().toString(36).slice(2, 12)).join("");
const store = (tenant: string, count: number) =>
  enqueue(
    deps,
    Array.from({ length: count }, () => ({ ...submission({ payload: { fill: fill() } }), tenant })),
    { idempotency_ttl_seconds: 60 },
  );
const open = (jobs_max: number, look_ms = 10_000) =>
  createStorageQuota(deps, { stored_bytes_per_tenant_max: jobs_max * bytes, look_ms });
const one = { bytes, jobs: 1, keys: [] };
/** Many times as many pages as a look reads. */
const fillTable = async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, ready_at, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), CASE n % 4 WHEN 0 THEN 'small' ELSE 'large' END, 'noop', 'queued', now(), now(), now(), now(),
           json_build_object('fill', repeat(n::text, CASE n % 4 WHEN 0 THEN 10 ELSE 100 END))
    FROM generate_series(1, 40_000) AS n`;
  await sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, queued) VALUES ('small', 'default', 10_000), ('large', 'default', 30_000)`;
  return sql<{ tenant: string; bytes: number }[]>`
    SELECT tenant, sum(300 + pg_column_size(payload))::float8 AS bytes FROM atlasqueue.jobs GROUP BY tenant`;
};

test("what a tenant has stored before counts, and what others have does not", async () => {
  await store("greedy", 10);
  await store("modest", 1);
  const quota = open(10);
  await expect(quota.admit("greedy", one)).rejects.toThrow(StorageFullError);
  await quota.admit("modest", one);
  await quota.admit("new", one);
});

test("what was let in since the last look counts at once, and is looked at later", async () => {
  const quota = open(3, 0);
  const slow = open(3);
  for (let at = 0; at < 3; at += 1) await slow.admit("default", one);
  await expect(slow.admit("default", one)).rejects.toThrow(`and may take ${3 * bytes}; this request has ${bytes}`);
  // Nothing of it was stored after all.
  await quota.admit("default", { ...one, bytes: 3 * bytes });
  await eventually(() => quota.admit("default", one));
});

test.each(["step", "signal"])("what a %s keeps counts for the tenant whose job it is", async (kind) => {
  const { sql } = deps.database;
  await sql`TRUNCATE atlasqueue.job_state`;
  const [outcome] = await store("greedy", 1);
  const job_id = outcome && "job" in outcome ? outcome.job.id : "";
  await store("modest", 1);
  for (let at = 0; at < 10; at += 1)
    await sql`
      INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at)
      VALUES ('greedy', ${job_id}, ${kind}, ${`s${at}`}, ${sql.json({ fill: fill() })}, now())`;
  await expect(open(10).admit("greedy", one)).rejects.toThrow(StorageFullError);
  await open(10).admit("modest", one);
  await sql`TRUNCATE atlasqueue.job_state`;
  await open(10).admit("greedy", one);
});

test("jobs that are gone make room", async () => {
  await store("default", 10);
  const quota = open(8, 0);
  await expect(quota.admit("default", one)).rejects.toThrow(StorageFullError);
  await deps.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_counts, atlasqueue.queue_changes`;
  await eventually(() => quota.admit("default", one));
});

test("a repetition of what is stored is let through, one with a new key is not", async () => {
  await enqueue(deps, [submission({}, "used")], { idempotency_ttl_seconds: 60 });
  await store("default", 10);
  const quota = open(8);
  await quota.admit("default", { ...one, keys: ["used"] });
  await expect(quota.admit("default", { bytes, jobs: 2, keys: ["used", "new"] })).rejects.toThrow(StorageFullError);
  await expect(quota.admit("default", { bytes, jobs: 2, keys: ["used"] })).rejects.toThrow(StorageFullError);
});

test("without a quota nothing is asked, and a look that fails later refuses no one", async () => {
  const broken = { database: { ...deps.database, sql: undefined as never } };
  await createStorageQuota(broken, { stored_bytes_per_tenant_max: 0 }).admit("default", one);
  await expect(createStorageQuota(broken, { stored_bytes_per_tenant_max: 1 }).admit("default", one)).rejects.toThrow();
  const database = { ...deps.database };
  const quota = createStorageQuota({ database }, { stored_bytes_per_tenant_max: 10 * bytes, look_ms: 0 });
  await quota.admit("default", one);
  database.sql = undefined as never;
  await quota.admit("default", one);
});

test("requests of an outage store nothing, so none is refused for the others: during it or after it", async () => {
  const database = { ...deps.database };
  const quota = createStorageQuota({ database }, { stored_bytes_per_tenant_max: 3 * bytes, look_ms: 0 });
  await quota.admit("default", one);
  database.sql = undefined as never;
  await quota.admit("default", one);
  await quota.admit("default", one);
  const refused = quota.admit("default", one);
  await expect(refused).rejects.toThrow();
  await expect(refused).rejects.not.toThrow(StorageFullError);
  database.sql = deps.database.sql;
  await quota.admit("default", one);
});

test("nor are they beside a large table, of which the next looks read little", async () => {
  const sizes = await fillTable();
  const before = sizes.find(({ tenant }) => tenant === "small")?.bytes ?? 0;
  const database = { ...deps.database };
  const quota = createStorageQuota({ database }, { stored_bytes_per_tenant_max: before * 3, look_ms: 100 });
  const part = (of: number) => quota.admit("small", { ...one, bytes: before * of });
  await part(0);
  database.sql = undefined as never;
  await part(0.8);
  await part(0.8);
  const lookFails = () => expect(part(2)).rejects.not.toThrow(StorageFullError);
  await eventually(lookFails);
  database.sql = deps.database.sql;
  await part(1.5);
});

test("a large table is sampled: the reckoning is close, and no slower", async () => {
  const sizes = await fillTable();
  expect(sizes).toHaveLength(2);
  for (const { tenant, bytes: stored } of sizes) {
    const fits = (part: number) =>
      createStorageQuota(deps, { stored_bytes_per_tenant_max: Math.round(stored * part) }).admit(tenant, one);
    await fits(1.5);
    await expect(fits(0.7)).rejects.toThrow(StorageFullError);
  }
});

test("a tenant whose small jobs are gone stores no more large ones than any other", async () => {
  await fillTable();
  const quota = open(10, 0);
  for (let at = 0; at < 50; at += 1) await quota.admit("default", { bytes: 5 * bytes, jobs: 1_000, keys: [] });
  // Let in once a look has found that none of them was stored.
  await eventually(() => quota.admit("default", { ...one, bytes: 10 * bytes }));
  let stored = 0;
  const storeUntilFull = async () => {
    for (; stored < 25; stored += 1) {
      await quota.admit("default", one);
      await store("default", 1);
    }
  };
  await expect(storeUntilFull()).rejects.toThrow(StorageFullError);
  expect(stored).toBeLessThanOrEqual(10);
});
