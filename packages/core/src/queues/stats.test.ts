import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { claimReady } from "../lease/claim.ts";
import { enqueue } from "../submit/enqueue.ts";
import { pauseQueue } from "./pause.ts";
import { queueStats, queue_stats_max } from "./stats.ts";

const { deps, add } = engineHarness();

test("each queue of the tenant has a row with every status, by name", async () => {
  await add({}, {}, { delay_seconds: 60 }, { queue: "mail" });
  await enqueue(deps, [{ ...submission(), tenant: "acme" }], { idempotency_ttl_seconds: 60 });
  await claimReady(deps, 1, { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
  const [main, mail, ...others] = await queueStats(deps, "default");
  expect(others).toEqual([]);
  const zero = { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 0, dead: 0, cancelled: 0 };
  expect(main).toMatchObject({ queue: "default", counts: { ...zero, scheduled: 1, queued: 1, running: 1 } });
  expect(mail).toMatchObject({ queue: "mail", paused_at: null, counts: { ...zero, queued: 1 } });
  expect(await queueStats(deps, "default", { queue: "mail" })).toEqual([{ ...mail, seen_at: expect.any(Date) }]);
  expect(await queueStats(deps, "default", { queue: "nobody's" })).toEqual([]);
});

test("the oldest job is found whatever its priority", async () => {
  await add({ priority: 5 }, { priority: -7 }, {}, { priority: 2 });
  await deps.database.sql`UPDATE atlasqueue.jobs SET ready_at = now() - interval '1 hour' WHERE priority = -7`;
  const [row] = await deps.database.sql<{ oldest: Date }[]>`SELECT min(ready_at) AS oldest FROM atlasqueue.jobs`;
  expect(await queueStats(deps, "default")).toMatchObject([{ oldest_queued_at: row?.oldest, counts: { queued: 4 } }]);
});

test("no job waits: there is no oldest", async () => {
  await add({ delay_seconds: 60 });
  expect(await queueStats(deps, "default")).toMatchObject([{ oldest_queued_at: null, counts: { scheduled: 1 } }]);
});

test("a paused queue is listed even without a job", async () => {
  const { paused_at } = await pauseQueue(deps, { tenant: "default", queue: "quiet" });
  expect(await queueStats(deps, "default")).toMatchObject([
    { queue: "quiet", paused_at, oldest_queued_at: null, counts: { queued: 0 } },
  ]);
  expect(await queueStats(deps, "acme")).toEqual([]);
});

test("an answer is bounded, however many queues there are", async () => {
  await deps.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) SELECT 'default', 'q' || n, 1 FROM generate_series(1, 1005) AS n`;
  expect(await queueStats(deps, "default")).toHaveLength(queue_stats_max);
  const names = async (after: string, limit: number) =>
    (await queueStats(deps, "default", { after, limit })).map(({ queue }) => queue);
  expect(await names("", 3)).toEqual(["q1", "q10", "q100"]);
  expect(await names("q100", 2)).toEqual(["q1000", "q1001"]);
  expect(await names("q998", 5)).toEqual(["q999"]);
});
