import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import { uuidArray } from "../database/literals.ts";
import { newId } from "../ids.ts";
import { held_apart_max } from "./ids-by-status.ts";
import { listJobsAt } from "./list-at.ts";
import { listJobs } from "./list.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

test("pages that end inside a batch of another tenant's jobs skip none of ours, and show none twice", async () => {
  // Made within a few milliseconds, like a batch: within one, ids differ only in their counter. A page looks at 20,000
  // jobs, and ends at each position in turn between theirs and ours.
  const ids = Array.from({ length: 40_200 }, newId);
  await own.database.sql`
    INSERT INTO jobs (id, tenant, type, status, run_at, created_at, updated_at, payload)
    SELECT id, CASE WHEN at % 3 = 1 THEN 'ours' ELSE 'theirs' END, CASE WHEN at % 9 = 1 THEN 'rare' ELSE 'a' END,
           'succeeded', now(), now(), now(), '{}'
    FROM unnest(${uuidArray(ids)}::uuid[]) WITH ORDINALITY AS made(id, at)`;
  for (const filter of [{ type: "rare" }, { type: "a" }]) {
    const seen: string[] = [];
    let below: string | undefined;
    do {
      const page = await listJobs(own, "ours", filter, 20_000, below);
      seen.push(...page.rows.map(({ id }) => id));
      below = page.next;
    } while (below !== undefined);
    const [row] = await own.database.sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM jobs WHERE tenant = 'ours' AND type = ${filter.type}`;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(row?.n);
  }
});

test("a page that is short, and not the last, says how many jobs it looked at", async () => {
  await own.database.sql`INSERT INTO queue_counts (tenant, queue, succeeded) VALUES ('ours', 'counted', 1)`;
  const { rows, next, looked_at = 0 } = await listJobs(own, "ours", { type: "unknown" }, 50, undefined);
  expect(rows).toEqual([]);
  // A first stretch, or more where the machine is quick.
  expect(looked_at).toBeGreaterThanOrEqual(1_250);
  const [row] = await own.database.sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM jobs WHERE id >= ${next ?? ""}::uuid`;
  expect(row?.n).toBe(looked_at);
  const full = await listJobs(own, "ours", { type: "a" }, 50, undefined);
  expect([full.rows.length, full.looked_at]).toEqual([50, undefined]);
});

test("of a queue or a status without jobs the list looks at one short stretch, and knows that there are none", async () => {
  await own.database.sql`ANALYZE jobs`;
  for (const filter of [{ queue: "nothing" }, { queue: "default", status: "cancelled" }] as const) {
    const ask = (deps: Parameters<typeof listJobs>[0]) => listJobs(deps, "ours", filter, 50, undefined);
    expect(await ask(own)).toEqual({ rows: [], next: undefined });
    // To look at them, and to find where the stretch ends.
    expect(await rowsRead(own.database, ask, "jobs")).toBeLessThanOrEqual(2_500);
  }
});

test("another tenant's backlog is not read for our list: beyond a bound it goes by stretches, which may be empty", async () => {
  await own.database.sql`TRUNCATE jobs`;
  const first = newId();
  const scheduled = (tenant: string, ids: string[]) => own.database.sql`
    INSERT INTO jobs (id, tenant, type, status, run_at, due_at, created_at, updated_at, payload)
    SELECT id, ${tenant}, 'a', 'scheduled', now(), now(), now(), now(), '{}' FROM unnest(${uuidArray(ids)}::uuid[]) AS made(id)`;
  await scheduled("ours", [first]);
  await scheduled("theirs", Array.from({ length: held_apart_max - 1 }, newId));
  const wanted = { status: "scheduled" } as const;
  const page = async (below?: string) => {
    const { rows, next } = await listJobs(own, "ours", wanted, 50, below);
    return { ids: rows.map(({ id }) => id), next };
  };
  expect(await page()).toEqual({ ids: [first], next: undefined });
  const second = newId();
  await scheduled("ours", [second]);
  await own.database.sql`INSERT INTO queue_counts (tenant, queue, scheduled) VALUES ('ours', 'default', 2)`;
  const seen: string[] = [];
  let pages = 0;
  for (let next: string | undefined; pages === 0 || next !== undefined; pages += 1) {
    const one = await page(next);
    seen.push(...one.ids);
    next = one.next;
  }
  expect(seen).toEqual([second, first]);
  expect(pages).toBeGreaterThan(1);
  const listed = await listJobsAt(own, "ours", { statuses: ["scheduled"] }, { limit: 50, offset: 0 });
  expect(listed.rows.map(({ id }) => id)).toEqual([second, first]);
});
