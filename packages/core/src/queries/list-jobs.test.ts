import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uuidArray } from "../database/literals.ts";
import { newId } from "../ids.ts";
import { listJobs } from "./list-jobs.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

test("pages that end inside a batch of another tenant's jobs leave out none of ours, and show none twice", async () => {
  // Made in a few milliseconds, as a batch makes them: within one, ids differ in their counter alone. A page looks at
  // 20,000 jobs, and ends at each place in turn between theirs and ours.
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
