import { queueLimits } from "@atlasqueue/contract";
import { setLimits, submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/harness";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";
import { startWorker, type Worker } from "./start-worker.ts";

// Somebody has changed jobs, or a queue, and does not commit for a while. All that is not in that transaction goes on.

const { add, deps, sql, work } = workerHarness();
const noop = defineHandler("noop", z.looseObject({}), () => {});
const succeeded = async () =>
  (await sql()<{ tenant: string }[]>`SELECT tenant FROM atlasqueue.jobs WHERE status = 'succeeded'`).map(
    ({ tenant }) => tenant,
  );
let worker: Worker | undefined;
afterEach(() => worker?.stop({ deadlineMs: 0 }));

test("a thousand waiting jobs in an open transaction keep none of those behind them waiting", async () => {
  await add(...Array.from({ length: 1_000 }, () => ({})));
  await sql()`UPDATE atlasqueue.jobs SET ready_at = ready_at - interval '1 minute', updated_at = updated_at - interval '1 minute'`;
  await sql().begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs FOR UPDATE`;
    work([noop], { concurrency: 10 });
    for (let done = 100; done <= 300; done += 100) {
      await add(...Array.from({ length: 100 }, () => ({})));
      await eventually(async () => expect(await succeeded()).toHaveLength(done));
    }
  });
  await eventually(async () => expect(await succeeded()).toHaveLength(1_300), { timeout_ms: 30_000 });
});

test("while somebody holds the row of a limited queue, the jobs of others run", async () => {
  await setLimits(deps(), { tenant: "held", queue: "default" }, queueLimits.parse({ concurrency: 10 }));
  const jobs = ["held", "other"].flatMap((tenant) =>
    Array.from({ length: 200 }, () => ({ ...submission({}), tenant })),
  );
  await submit(deps(), jobs, { idempotency_ttl_seconds: 60 });
  await sql().begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.queues WHERE tenant = 'held' FOR UPDATE`;
    worker = startWorker(deps(), { handlers: [noop], tenants: ["held", "other"], concurrency: 10 });
    await eventually(async () => expect(await succeeded()).toEqual(Array.from({ length: 200 }, () => "other")));
  });
  await eventually(async () => expect(await succeeded()).toHaveLength(400));
});
