import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { textArray, uuidArray } from "../database/literals.ts";
import { listDead, type DeadRows } from "../dead-letters/list.ts";
import { newId } from "../ids.ts";
import { listJobsAt } from "./list-at.ts";
import { listJobs } from "./list.ts";
import type { PageRow } from "./page-row.ts";
import { page_bytes_max } from "../memory-budget/bytes.ts";
import { searchJobs } from "./search.ts";

const tenant = "default";
const count = 60;
const own = forFile(testDatabase);
beforeAll(async () => {
  // Half of them are stored compressed, and half as they are; a third have their bulk in the result. Between them are
  // small ones, which another statement of the same page finds.
  for (let at = 0; at < count; at += 1)
    await own.database.sql`
      INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, result, last_error, error_fingerprint)
      SELECT ${newId()}, 'large', 'dead', now(), now(), now(), now(), now() + ${at} * interval '1 second',
             json_build_object('n', ${at}::int, 'fill', CASE WHEN ${at}::int % 3 <> 0 THEN fill ELSE '' END),
             json_build_object('fill', CASE WHEN ${at}::int % 3 = 0 THEN fill ELSE '' END), 'needle', 'f'
      FROM (SELECT CASE WHEN ${at}::int % 2 = 0 THEN repeat('x', 250000)
                        ELSE (SELECT string_agg(md5(n::text || ${at}::text), '') FROM generate_series(1, 7800) AS n) END AS fill) AS made`;
  await own.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) VALUES (${tenant}, 'default', ${count})`;
});

type Page = { rows: PageRow[]; next: unknown };
const patient_ms = 60_000;
const lists: Record<string, (next: never, jobs_max?: number) => Promise<Page>> = {
  "of all": (next, jobs_max = 200) => listJobs(own, tenant, {}, jobs_max, next),
  "by status": (next, jobs_max = 200) => listJobs(own, tenant, { status: "dead" }, jobs_max, next),
  "by text": (next, jobs_max = 200) => searchJobs(own, tenant, {}, "needle", jobs_max, next, patient_ms),
  "of dead letters": (next, jobs_max = 200): Promise<DeadRows> => listDead(own, tenant, {}, jobs_max, next),
  "of a group of dead letters": (next, jobs_max = 200): Promise<DeadRows> =>
    listDead(own, tenant, { type: "large", fingerprint: "f" }, jobs_max, next),
  "from an offset": async (next, jobs_max = 200) => {
    const offset = (next as number | undefined) ?? 0;
    const { rows, total } = await listJobsAt(own, tenant, {}, { limit: jobs_max, offset });
    return { rows, next: offset + rows.length < total ? offset + rows.length : undefined };
  },
};
const bytesIn = ({ payload, result }: PageRow) => (payload?.text.length ?? 0) + (result?.text.length ?? 0);

test.each(Object.entries(lists))("a page of large jobs %s is cut at its bytes, and goes on there", async (_, list) => {
  const seen: unknown[] = [];
  let pages = 0;
  let next: unknown;
  do {
    const page = await list(next as never);
    const bytes = page.rows.reduce((sum, row) => sum + bytesIn(row), 0);
    expect(bytes - bytesIn(page.rows.at(-1) as PageRow)).toBeLessThanOrEqual(page_bytes_max);
    seen.push(...page.rows.map(({ payload }) => (JSON.parse(payload?.text ?? "") as { n: number }).n));
    pages += 1;
    next = page.next;
  } while (next !== undefined && pages < count);
  expect(seen).toEqual(Array.from({ length: count }, (_one, at) => count - 1 - at));
  expect(pages).toBe(4);
});

test.each(Object.entries(lists))(
  "a page of few jobs %s is whole, and nothing large in it is parsed",
  async (_, list) => {
    const { rows } = await list(undefined as never, 3);
    // As the database wrote it, which JSON.stringify does not.
    for (const [at, n] of [59, 58, 57].entries()) expect(rows[at]?.payload?.text).toMatch(`{"n" : ${n}, "fill" : "`);
    expect(rows[0]?.result?.text).toMatch(/^\{"fill" : "/);
    expect(rows[0]?.progress).toBe(null);
    expect(rows).toHaveLength(3);
  },
);

test("the pages of a list that looks in several stretches share their bytes", async () => {
  const few = await testDatabase();
  onTestFinished(() => few.drop());
  // Two large ones in the first stretch, and twenty beyond it.
  const ids = Array.from({ length: 3_000 }, newId);
  const large = new Set([...ids.slice(0, 20), ...ids.slice(-2)]);
  const types = ids.map((id) => (large.has(id) ? "large" : "small"));
  await few.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, payload)
    SELECT id, type, 'succeeded', now(), now(), now(), json_build_object('fill', CASE WHEN type = 'large' THEN repeat('x', 250000) ELSE '' END)
    FROM unnest(${uuidArray(ids)}::uuid[], ${textArray(types)}::text[]) AS made(id, type)`;
  // A page that begins between the large ones asks them whether it is worth going on.
  await few.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) VALUES (${tenant}, 'default', 3000)`;
  const seen: string[] = [];
  let next: string | undefined;
  do {
    // A slow machine ends a page sooner.
    const page = await listJobs(few, tenant, { type: "large" }, 200, next);
    expect(page.rows.length).toBeLessThan(20);
    seen.push(...page.rows.map(({ id }) => id));
    next = page.next;
  } while (next !== undefined);
  expect(seen).toEqual([...large].toSorted().reverse());
});
