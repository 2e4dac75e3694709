import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { page_bytes_max } from "../memory-budget/bytes.ts";
import { listSchedules } from "./list.ts";

const tenant = "default";
const count = 40;
const own = forFile(testDatabase);
beforeAll(async () => {
  // Half of them are stored compressed, and half as they are.
  await own.database.sql`
    INSERT INTO atlasqueue.schedules (tenant, name, cron, timezone, catch_up, job, created_at, updated_at)
    SELECT ${tenant}, 's' || to_char(at, 'FM00'), '0 0 * * *', 'UTC', 'none',
           json_build_object('type', 'large', 'payload', json_build_object('fill', CASE WHEN at % 2 = 0 THEN repeat('x', 250000)
             ELSE (SELECT string_agg(md5(n::text || at::text), '') FROM generate_series(1, 7800) AS n) END)), now(), now()
    FROM generate_series(0, ${count - 1}::int) AS at`;
});

test("a page of schedules with large payloads is cut at its bytes, and goes on there", async () => {
  const seen: string[] = [];
  let pages = 0;
  let next: string | undefined;
  do {
    const page = await listSchedules(own, tenant, 200, next);
    const sizes = page.rows.map(({ job }) => JSON.stringify(job).length);
    expect(sizes.slice(0, -1).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(page_bytes_max);
    seen.push(...page.rows.map(({ name }) => name));
    pages += 1;
    next = page.next;
  } while (next !== undefined && pages < count);
  expect(seen).toEqual(Array.from({ length: count }, (_, at) => `s${String(at).padStart(2, "0")}`));
  expect(pages).toBe(3);
});

test("a page of few schedules is as long as it was asked to be", async () => {
  const { rows, next } = await listSchedules(own, tenant, 3);
  expect(rows.map(({ name, seen_at }) => [name, seen_at instanceof Date])).toEqual([
    ["s00", true],
    ["s01", true],
    ["s02", true],
  ]);
  expect(next).toBe("s02");
  expect((await listSchedules(own, tenant, 3, "s38")).next).toBeUndefined();
});
