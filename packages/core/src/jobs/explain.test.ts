import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Deps } from "../deps.ts";
import { noSignal } from "../signal/none.ts";
import type { Signal } from "../signal/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { explainJob } from "./explain.ts";

let own: TestDatabase;
let deps: Deps & { signal: Signal };
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe, signal: noSignal() };
});
afterAll(() => own.drop());

const add = async (...requests: Parameters<typeof submission>[0][]): Promise<string[]> => {
  const submissions = requests.map((request) => submission(request));
  const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};
const codeOf = async (id: string) => {
  const reasons = (await explainJob(deps, "default", id))?.reasons ?? [];
  return reasons.map(({ code, detail }) => `${code} ${/^\d+/.exec(detail)?.[0] ?? ""}`.trim());
};

test("the jobs ahead are those of higher priority, and older ones of the same", async () => {
  const [first = "", second = "", urgent = "", late = ""] = await add({}, {}, { priority: 5 }, { priority: -5 });
  await add({ queue: "other", priority: 9 });
  expect(await codeOf(urgent)).toEqual(["waiting_for_worker"]);
  expect(await codeOf(first)).toEqual(["jobs_ahead 1"]);
  expect(await codeOf(second)).toEqual(["jobs_ahead 2"]);
  expect(await codeOf(late)).toEqual(["jobs_ahead 3"]);
});

test("the jobs behind it are not read, however many there are", async () => {
  const [front = ""] = await add({ queue: "long" });
  await own.database.sql`
    INSERT INTO jobs (id, queue, type, status, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'long', 'a', 'queued', now(), now() + interval '1 s', now(), now(), '{}' FROM generate_series(1, 20000)`;
  await own.database.sql`ANALYZE jobs`;
  const asked = vi.spyOn(own.database.sql, "unsafe");
  expect(await codeOf(front)).toEqual(["waiting_for_worker"]);
  const [text = "", params] = asked.mock.calls[0] ?? [];
  asked.mockRestore();
  const plan = await own.database.sql.unsafe(`EXPLAIN (ANALYZE, COSTS OFF) ${text}`, params);
  const passed = [...JSON.stringify(plan).matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows));
  expect(Math.max(0, ...passed)).toBeLessThan(100);
});
