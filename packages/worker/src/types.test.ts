import { queueLimits } from "@atlasqueue/contract";
import { setLimits } from "@atlasqueue/core/internal";
import { eventually } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { any, drivers, main, signals, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, deps, named, sql, useSignal, work } = workerHarness();

const handlers = ["mail", "report"].map((type) => defineHandler(type, any, () => {}));
const left = async () =>
  await sql()<{ type: string; attempts: number }[]>`
    SELECT type, attempts::int FROM atlasqueue.jobs WHERE status <> 'succeeded'`;

beforeEach(async () => void (await sql()`TRUNCATE atlasqueue.queues, atlasqueue.queue_starts`));

describe.each(Object.entries(signals))("with %s", (_name, driver) => {
  beforeEach(() => useSignal(driver));

  test("workers of different types each take their own from one queue, each job once", async () => {
    await add(...Array.from({ length: 200 }, (_, at) => ({ type: at % 3 === 0 ? "mail" : "report" })));
    for (const type of ["mail", "report"]) work(handlers, { types: [type], pollTimeoutSeconds: 1 });
    await eventually(async () => expect(await left()).toEqual([]), { timeout_ms: 30_000 });
    const rows =
      await sql()`SELECT attempts::int, count(DISTINCT worker_id)::int AS workers, type FROM atlasqueue.jobs GROUP BY 1, 3 ORDER BY 3`;
    expect(rows).toEqual([
      { attempts: 1, workers: 1, type: "mail" },
      { attempts: 1, workers: 1, type: "report" },
    ]);
  });

  test("a worker finds its job behind others that nobody takes, and leaves them with no attempt counted", async () => {
    await add(...Array.from({ length: 50 }, () => ({ type: "report" })), { type: "mail" });
    work(handlers, { types: ["mail"], pollTimeoutSeconds: 1 });
    await eventually(async () => expect(await left()).toHaveLength(50), { timeout_ms: 30_000 });
    await add({ type: "mail" });
    await eventually(async () => expect(await left()).toHaveLength(50), { timeout_ms: 30_000 });
    expect(new Set((await left()).map(({ type, attempts }) => `${type} ${attempts}`))).toEqual(new Set(["report 0"]));
  });

  test("workers of different types share a queue with limits", async () => {
    await setLimits(deps(), main, queueLimits.parse({ concurrency: 3 }));
    await add(...Array.from({ length: 30 }, (_, at) => ({ type: at % 3 === 0 ? "mail" : "report" })));
    for (const type of ["mail", "report"]) work(handlers, { types: [type], pollTimeoutSeconds: 1 });
    await eventually(async () => expect(await left()).toEqual([]), { timeout_ms: 30_000 });
  });
});

test("the next job of a group is left to a worker of its type", async () => {
  useSignal(drivers.redis);
  const types = ["mail", "report", "mail", "report"];
  await add(...types.map((type) => ({ type, group: "g" })));
  for (const type of ["mail", "report"]) work(handlers, { types: [type], pollTimeoutSeconds: 1 });
  await eventually(async () => expect(await left()).toEqual([]), { timeout_ms: 30_000 });
  const rows = await sql()<{ type: string }[]>`SELECT type FROM atlasqueue.jobs ORDER BY started_at`;
  expect(rows.map(({ type }) => type)).toEqual(types);
});

test("while only jobs of other types wait, a worker asks for its own less and less often", async () => {
  let takes = 0;
  useSignal(() => {
    const redis = drivers.redis();
    return { ...redis, take: (...asked) => ((takes += 1), redis.take(...asked)) };
  });
  await add(...Array.from({ length: 50 }, () => ({ type: "report" })));
  work(handlers, { types: ["mail"], pollTimeoutSeconds: 1 });
  await eventually(() => expect(named("sweep_complete").length).toBeGreaterThan(2), { timeout_ms: 30_000 });
  expect(takes).toBeLessThan(40);
  expect(await left()).toHaveLength(50);
});
