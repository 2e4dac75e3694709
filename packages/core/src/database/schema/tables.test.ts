import { recordEvents, submission, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { claim } from "../../lease/claim.ts";
import { enqueue } from "../../submit/enqueue.ts";
import { getTableColumns } from "../drizzle.ts";
import { jobs as jobsTable } from "./jobs.ts";
import { completeAll } from "../../../test/engine-harness.ts";
import { openDatabase } from "../../../test/opened.ts";

const own = forFile(testDatabase);

/** A budget is met by removing tables and indexes. Lower it when one goes. */
const tables_max = 22;
const indexes_max = 46;

/** What belongs to the database, and to no tenant. */
const of_the_database = ["redis_owner", "signing_keys"];

test("tables and indexes stay within their budget", async () => {
  const [row] = await own.database.sql<{ tables: number; indexes: number }[]>`
    SELECT (SELECT count(*)::int FROM pg_tables WHERE schemaname = 'atlasqueue' AND tablename <> 'migrations') AS tables,
           (SELECT count(*)::int FROM pg_indexes WHERE schemaname = 'atlasqueue' AND tablename <> 'migrations') AS indexes`;
  expect(row?.tables).toBeLessThanOrEqual(tables_max);
  expect(row?.indexes).toBeLessThanOrEqual(indexes_max);
});

test("every table carries the tenant, but for what belongs to the database", async () => {
  const rows = await own.database.sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'atlasqueue' AND tablename <> 'migrations' AND NOT EXISTS (
      SELECT FROM information_schema.columns WHERE table_schema = schemaname AND table_name = tablename AND column_name = 'tenant')
    ORDER BY tablename`;
  expect(rows.map(({ name }) => name)).toEqual(of_the_database);
});

test("an ordinary job of a batch is four row versions and five entries of indexes", async () => {
  const jobs = 250;
  const database = openDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 15_000 });
  const deps = { database, observe: recordEvents().observe };
  const written = async (): Promise<number> => {
    await database.sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await database.sql<{ versions: number }[]>`
      SELECT sum(n_tup_ins + n_tup_upd)::int AS versions FROM pg_stat_user_tables WHERE schemaname = 'atlasqueue'`;
    return row?.versions ?? NaN;
  };
  await database.sql`CREATE EXTENSION IF NOT EXISTS pageinspect`;
  /** Of all B-trees, and the pages of the index of tags, which is none. */
  const entries = async (): Promise<{ entries: number; tags: number }> => {
    const [row] = await database.sql<{ entries: number; tags: number }[]>`
      SELECT sum(live_items + dead_items)::int AS entries, (pg_relation_size('atlasqueue.jobs_tags') / 8192)::int AS tags
      FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam AND amname = 'btree',
           LATERAL generate_series(1, pg_relation_size(indexrelid) / 8192 - 1) AS block,
           LATERAL bt_page_stats(indexrelid::regclass::text, block) AS page
      WHERE relnamespace = 'atlasqueue'::regnamespace AND page.type = 'l'`;
    return row ?? { entries: NaN, tags: NaN };
  };
  const before = await written();
  const indexed = await entries();
  const drafts = Array.from({ length: jobs }, (_, at) => submission({}, `key-${at}`));
  const outcomes = await enqueue(deps, drafts, { idempotency_ttl_seconds: 60 });
  const ids = outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  const terms = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const leases = await claim(deps, ids, terms);
  await completeAll(deps, leases);
  // For each job its key and three versions of its row; for the batch a claim and three rows of counts.
  expect((await written()) - before).toBe(4 * jobs + 4);
  // Two of its key, two of the job, and one of its claim; those of the batch, and the ends of pages.
  const after = await entries();
  expect(after.entries - indexed.entries).toBeGreaterThan(4 * jobs);
  expect(after.entries - indexed.entries).toBeLessThanOrEqual(5 * jobs + 20);
  expect(after.tags).toBe(indexed.tags);
});

test("the columns of a job are in the order of its schema, the payload last, so that no update logs it again", async () => {
  const rows = await own.database.sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = 'atlasqueue.jobs'::regclass AND attnum > 0 ORDER BY attnum`;
  const names = rows.map(({ name }) => name);
  expect(names).toEqual(Object.keys(getTableColumns(jobsTable)));
  expect(names.at(-1)).toBe("payload");
});

test("no column of jobs asks ANALYZE for more than 7,500 rows: one that keeps the default quadruples them for all", async () => {
  const rows = await own.database.sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = 'atlasqueue.jobs'::regclass AND attnum > 0 AND attstattarget IS DISTINCT FROM 25`;
  expect(rows.map(({ name }) => name)).toEqual([]);
});
