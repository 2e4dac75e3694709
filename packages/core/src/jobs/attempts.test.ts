import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { newId } from "../ids.ts";
import { listAttempts } from "./attempts.ts";
import { page_bytes_max } from "../memory-budget/bytes.ts";

const own = forFile(testDatabase);

test("of attempts with long logs the newest are listed, as many as fit into a page", async () => {
  const id = newId();
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload)
    VALUES (${id}, 'a', 'cancelled', now(), now(), now(), now(), '{}')`;
  await own.database.sql`
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, started_at, finished_at, outcome, logs)
    SELECT 'default', ${id}, at, now(), now(), 'failed', json_build_array(json_build_object('at', now(), 'line', repeat('x', 100000)))
    FROM generate_series(1, 100) AS at`;
  const listed = (await listAttempts(own, "default", id)) ?? [];
  const bytes = JSON.stringify(listed).length;
  expect(bytes).toBeGreaterThan(page_bytes_max - 200_000);
  expect(bytes).toBeLessThan(page_bytes_max + 200_000);
  const numbers = listed.map(({ attempt }) => attempt);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => 101 - numbers.length + at));
});
