import { type QueueLimitsInput } from "@atlasqueue/contract";
import { beforeEach, expect, test, vi } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { claim } from "../lease/claim.ts";
import { noSignal } from "../signal/memory/signal.ts";
import { explainJob } from "./explain.ts";

const { deps, add, limit } = engineHarness();
beforeEach(() => void (deps.signal = noSignal()));

const codeOf = async (id: string) => {
  const reasons = (await explainJob(deps, "default", id))?.reasons ?? [];
  return reasons.map(({ code, detail }) => `${code} ${/^\d+/.exec(detail)?.[0] ?? ""}`.trim());
};

test("the jobs ahead are those of higher priority, and older ones of the same", async () => {
  const [first = "", second = "", urgent = "", late = ""] = await add({}, {}, { priority: 5 }, { priority: -5 });
  await add({ queue: "other", priority: 9 });
  expect(await codeOf(urgent)).toEqual(["waiting_for_worker"]);
  expect(await codeOf(first)).toEqual(["waiting_in_queue 1"]);
  expect(await codeOf(second)).toEqual(["waiting_in_queue 2"]);
  expect(await codeOf(late)).toEqual(["waiting_in_queue 3"]);
});

test("the jobs behind it are not read, however many there are", async () => {
  const [front = ""] = await add({ queue: "long" });
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, queue, type, status, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'long', 'a', 'queued', now(), now() + interval '1 s', now(), now(), '{}' FROM generate_series(1, 20000)`;
  await deps.database.sql`ANALYZE atlasqueue.jobs`;
  const asked = vi.spyOn(deps.database.sql, "unsafe");
  expect(await codeOf(front)).toEqual(["waiting_for_worker"]);
  const [text = "", params] = asked.mock.calls[0] ?? [];
  asked.mockRestore();
  const plan = await deps.database.sql.unsafe(`EXPLAIN (ANALYZE, COSTS OFF) ${text}`, params);
  const passed = [...JSON.stringify(plan).matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows));
  expect(Math.max(0, ...passed)).toBeLessThan(100);
});

test("a job that its queue's limits keep waiting says which, how far they are used, and what to do", async () => {
  const limited = async (queue: string, limits: QueueLimitsInput, group?: string) => {
    await limit(limits, queue);
    const [first = "", second = ""] = await add({ queue, ...(group && { group }) }, { queue });
    expect(await codeOf(second)).toEqual(["waiting_in_queue 1"]);
    await claim(deps, [first], { tenant: "default", queues: [queue], worker_id: "w1", lease_seconds: 30 });
    return { queue, second };
  };
  const reasonsOf = async (id: string) => (await explainJob(deps, "default", id))?.reasons;
  const { second: full } = await limited("narrow", { concurrency: 1 });
  expect(await reasonsOf(full)).toEqual([
    {
      code: "queue_full",
      detail: 'Queue "narrow" is at its concurrency limit (1). Wait for a job to finish, or raise `concurrency`.',
    },
    { code: "waiting_for_worker", detail: expect.any(String) as string },
  ]);
  const { second: slow } = await limited("slow", { rate: { limit: 1, period_seconds: 60 } });
  expect(await reasonsOf(slow)).toMatchObject([
    {
      code: "rate_reached",
      detail: expect.stringMatching(
        /^Queue "slow" is at its rate limit \(1 starts in 60 s\)\. Wait until \S+Z, or raise `rate`\.$/,
      ) as string,
    },
    { code: "waiting_for_worker" },
  ]);
  // Of a group with two jobs at once, so that the second is ready; a job of no group may start.
  const shared = { group_concurrency: 2, group_rate: { limit: 1, period_seconds: 60 } };
  const { second: free } = await limited("shared", shared, "g");
  const [next = ""] = await add({ queue: "shared", group: "g" });
  expect(await codeOf(free)).toEqual(["waiting_for_worker"]);
  expect(await reasonsOf(next)).toMatchObject([
    {
      code: "group_rate_reached",
      detail: expect.stringMatching(
        /^Group "g" is at its rate limit \(1 starts in 60 s\)\. Wait until \S+Z, or raise `group_rate`\.$/,
      ) as string,
    },
    { code: "waiting_in_queue" },
  ]);
});
