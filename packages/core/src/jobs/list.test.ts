import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import { uuidArray } from "../database/literals.ts";
import { newId } from "../ids.ts";
import { listJobsAt } from "./list-at.ts";
import { held_apart_max, listJobs, type JobFilter } from "./list.ts";

/** As long as a busy machine needs to walk all jobs. */
const patient_ms = 60_000;

const own = forFile(testDatabase);

test("pages that end inside a batch of another tenant's jobs skip none of ours, and show none twice", async () => {
  // Made within a few milliseconds, like a batch: within one, ids differ only in their counter. A page of one stretch
  // looks at 1,250 jobs, and ends at each position in turn between theirs and ours.
  const ids = Array.from({ length: 40_200 }, newId);
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, run_at, created_at, updated_at, payload)
    SELECT id, CASE WHEN at % 3 = 1 THEN 'ours' ELSE 'theirs' END, CASE WHEN at % 9 = 1 THEN 'rare' ELSE 'a' END,
           'succeeded', now(), now(), now(), '{}'
    FROM unnest(${uuidArray(ids)}::uuid[]) WITH ORDINALITY AS made(id, at)`;
  for (const filter of [{ type: "rare" }, { type: "a" }]) {
    const seen: string[] = [];
    let below: string | undefined;
    do {
      const page = await listJobs(own, "ours", filter, 20_000, below, { ms_max: 0 });
      seen.push(...page.rows.map(({ id }) => id));
      below = page.next;
    } while (below !== undefined);
    const [row] = await own.database.sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE tenant = 'ours' AND type = ${filter.type}`;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(row?.n);
  }
});

test("a page that is short, and not the last, says how many jobs it looked at", async () => {
  await own.database.sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) VALUES ('ours', 'counted', 1)`;
  const { rows, next, looked_at = 0 } = await listJobs(own, "ours", { type: "unknown" }, 50, undefined, { ms_max: 0 });
  expect(rows).toEqual([]);
  expect(looked_at).toBe(1_250);
  const [row] = await own.database.sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE id >= ${next ?? ""}::uuid`;
  expect(row?.n).toBe(looked_at);
  const full = await listJobs(own, "ours", { type: "a" }, 50, undefined);
  expect([full.rows.length, full.looked_at]).toEqual([50, undefined]);
});

test("of a queue or a status without jobs the list looks at one short stretch, and knows that there are none", async () => {
  await own.database.sql`ANALYZE atlasqueue.jobs`;
  for (const filter of [{ queue: "nothing" }, { queue: "default", status: "cancelled" }] as const) {
    const ask = (deps: Parameters<typeof listJobs>[0]) => listJobs(deps, "ours", filter, 50, undefined);
    expect(await ask(own)).toEqual({ rows: [], next: undefined });
    // To look at them, and to find where the stretch ends.
    expect(await rowsRead(own.database, ask, "jobs")).toBeLessThanOrEqual(2_500);
  }
});

test("a queue's own jobs are found behind another queue's newer backlog, and other rare jobs as well", async () => {
  await own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_counts`;
  const insert = (queue: string, type: string, group: string | null, ids: string[]) => own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, group_key, status, ready_at, due_at, run_at, created_at, updated_at, payload)
    SELECT id, 'ours', ${queue}, ${type}, ${group}, CASE WHEN at % 2 = 0 THEN 'queued' ELSE 'scheduled' END,
           CASE WHEN at % 2 = 0 THEN now() END, CASE WHEN at % 2 = 1 THEN now() END, now(), now(), now(), '{}'
    FROM unnest(${uuidArray(ids)}::uuid[]) WITH ORDINALITY AS made(id, at)`;
  const few = Array.from({ length: 8 }, newId);
  await insert("reports", "rare", "seldom", few);
  await insert("big", "common", null, Array.from({ length: 45_000 }, newId));
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, queued, scheduled) VALUES ('ours', 'reports', 4, 4), ('ours', 'big', 22500, 22500)`;
  await own.database.sql`ANALYZE atlasqueue.jobs`;
  const found = async (filter: JobFilter) => {
    const { rows, next } = await listJobs(own, "ours", filter, 50, undefined, { ms_max: patient_ms });
    expect(next).toBeUndefined();
    return rows.map(({ id }) => id).toReversed();
  };
  const at = (rest: number) => few.filter((_, place) => (place + 1) % 2 === rest);
  for (const [status, ids] of [
    ["queued", at(0)],
    ["scheduled", at(1)],
  ] as const) {
    expect(await found({ queue: "reports", status })).toEqual(ids);
    // Of the other queue's jobs it reads a first stretch.
    const ask = (deps: Parameters<typeof listJobs>[0]) =>
      listJobs(deps, "ours", { queue: "reports", status }, 50, undefined);
    expect(await rowsRead(own.database, ask, "jobs")).toBeLessThan(3_000);
  }
  for (const filter of [{ type: "rare" }, { group: "seldom" }, { queue: "reports" }])
    expect(await found(filter)).toEqual(few);
});

test("another tenant's dead jobs are not read for our list: beyond a bound it walks the newest jobs", async () => {
  await own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_counts`;
  await own.database.sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) VALUES ('ours', 'default', 2)`;
  const first = newId();
  const dead = (tenant: string, ids: string[]) => own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, run_at, dead_at, created_at, updated_at, payload)
    SELECT id, ${tenant}, 'a', 'dead', now(), now(), now(), now(), '{}' FROM unnest(${uuidArray(ids)}::uuid[]) AS made(id)`;
  await dead("ours", [first]);
  await dead("theirs", Array.from({ length: held_apart_max - 1 }, newId));
  const wanted = { status: "dead" } as const;
  const page = async (below?: string) => {
    const { rows, next } = await listJobs(own, "ours", wanted, 50, below);
    return { ids: rows.map(({ id }) => id), next };
  };
  expect(await page()).toEqual({ ids: [first], next: undefined });
  const second = newId();
  await dead("ours", [second]);
  const seen: string[] = [];
  let next: string | undefined;
  do {
    const one = await page(next);
    seen.push(...one.ids);
    next = one.next;
  } while (next !== undefined);
  expect(seen).toEqual([second, first]);
  const listed = await listJobsAt(own, "ours", { statuses: ["dead"] }, { limit: 50, offset: 0, ms_max: patient_ms });
  expect(listed.rows.map(({ id }) => id)).toEqual([second, first]);
});
