import { eventually } from "@atlasqueue/harness";
import { expect } from "vitest";
import { Queue } from "../src/index.ts";
import type { Check } from "./checks-of-jobs.ts";
import type { World } from "./worlds.ts";

/** What BullMQ does in another way. Each is checked on the facade. */
export const differences: Record<string, Check> = {
  "`job.id`": async ({ queue }) => {
    const job = await queue().add("a", {}, { jobId: "one" });
    expect(job.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await queue().getJob("one"))?.id).toBe(job.id);
  },
  "`jobId` with `removeOnComplete: true`": async ({ queue, work }) => {
    const add = () => queue().add("a", {}, { jobId: "one", removeOnComplete: true });
    const [first, second] = [await add(), await add()];
    expect(second.id).toBe(first.id);
    work();
    await eventually(async () => expect(await first.isCompleted()).toBe(true));
    expect((await add()).id).not.toBe(first.id);
  },
  "`removeOnComplete`, `removeOnFail`": async ({ queue, work }) => {
    const job = await queue().add("a", {}, { removeOnComplete: true, removeOnFail: { age: 60 } });
    work();
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
  },
  "`upsertJobScheduler`: the first job": async ({ queue }) => {
    expect(await queue().upsertJobScheduler("hourly", { every: 3_600_000 })).toBeUndefined();
    expect(await queue().getJobSchedulers()).toMatchObject([{ pattern: "0 */1 * * *", tz: "UTC" }]);
    expect(await queue().getJobs()).toEqual([]);
  },
  "prioritised jobs in `getJobCounts()`": async ({ queue }) => {
    await queue().add("a", {}, { priority: 3 });
    const counts = () => queue().getJobCounts("waiting", "prioritized");
    await eventually(async () => expect(await counts()).toEqual({ waiting: 1, prioritized: 0 }));
  },
  "keys of `getChildrenValues()`": async ({ flows, name, work, queue }) => {
    const child = { name: "child", queueName: name };
    const { job, children } = await flows().add({ name: "top", queueName: name, children: [child] });
    work(async (running) => (running.name === "top" ? running.getChildrenValues() : 1));
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
    expect((await queue().getJob(job.id))?.returnvalue).toEqual({ [children?.[0]?.job.id ?? ""]: 1 });
  },
};

const add = (opts: object) => (world: World) => world.queue().add("a", {}, opts);
const repeat = (options: object) => (world: World) => world.queue().upsertJobScheduler("id", options);
type Loose = Record<string, (...args: unknown[]) => unknown>;

/** What has no counterpart. Each throws. */
export const refusals: Record<string, (world: World) => unknown> = {
  "a connection to Redis": ({ name }) => new Queue(name, { connection: { url: "redis://127.0.0.1:6379" } }),
  "`prefix`": ({ queue }) => queue({ prefix: "mine" } as object),
  "data that is no object": ({ queue }) => queue().add("a", [1, 2]),
  "`lifo`": add({ lifo: true }),
  "`repeat`, `parent` of `add()`": add({ repeat: { every: 1_000 } }),
  "`sizeLimit`": add({ sizeLimit: 100 }),
  "`attempts` above 25": add({ attempts: 26 }),
  "`backoff` with `jitter`": add({ backoff: { type: "fixed", delay: 1, jitter: 0.5 } }),
  "a custom `backoff`": add({ backoff: { type: "mine" } }),
  "`deduplication.keepLastIfActive`": add({ deduplication: { id: "d", keepLastIfActive: true } }),
  "seconds in a `pattern`": repeat({ pattern: "*/5 * * * * *" }),
  "`every` that no hour or day is a multiple of": repeat({ every: 7_000 }),
  "`startDate`, `endDate`, `limit`, `offset` of a scheduler": repeat({ pattern: "* * * * *", limit: 3 }),
  "`continueParentOnFailure`": ({ flows, name }) => {
    const opts = { continueParentOnFailure: true } as object;
    return flows().add({ name: "a", queueName: name, children: [{ name: "b", queueName: name, opts }] });
  },
  "a processor in a file": ({ work }) => work("./processor.js" as never),
  "`settings.backoffStrategy` of a worker": ({ work }) => work(undefined, { settings: {} } as object),
  "events of `QueueEvents` such as `waiting`": async ({ events }) => (await events()).on("waiting", () => {}),
  "`worker.rateLimit()`, `cancelJob()`": ({ work }) => (work() as unknown as Loose)["rateLimit"]?.(100),
  "`queue.clean()`, `retryJobs()`, `getMetrics()`": ({ queue }) => (queue() as unknown as Loose)["clean"]?.(0, 1),
  "`job.promote()`, `changeDelay()`, `updateData()`": async ({ queue }) =>
    ((await queue().add("a")) as unknown as Loose)["promote"]?.(),
};
