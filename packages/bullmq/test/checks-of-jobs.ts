import { eventually } from "@atlasqueue/harness";
import { expect } from "vitest";
import type { World } from "./worlds.ts";

// Each check is what BullMQ's guide says of one row of the page, and runs on BullMQ and on the facade.
export type Check = (world: World) => Promise<void>;

/** Runs until the queue's jobs have ended, and returns their names in the order in which they started. */
async function order({ queue, work }: World, jobs: number): Promise<string[]> {
  const names: string[] = [];
  work(async (job) => void names.push(job.name));
  await eventually(() => expect(names).toHaveLength(jobs));
  await eventually(async () => expect(await queue().getCompleted()).toHaveLength(jobs));
  return names;
}

export const checksOfJobs: Record<string, Check> = {
  "`queue.add(name, data)`": async ({ queue, work, events }) => {
    const all = await events();
    const job = await queue().add("paint", { color: "red" });
    expect(job).toMatchObject({ name: "paint", data: { color: "red" }, attemptsMade: 0 });
    work(async ({ data }) => ({ painted: data.color }));
    expect(await job.waitUntilFinished(all, 20_000)).toEqual({ painted: "red" });
    const done = await queue().getJob(job.id);
    expect(done).toMatchObject({ returnvalue: { painted: "red" }, attemptsMade: 1 });
    expect(done?.finishedOn).toBeGreaterThanOrEqual(job.timestamp);
  },
  "`queue.addBulk(jobs)`": async ({ queue }) => {
    const added = await queue().addBulk([{ name: "a", data: { n: 1 } }, { name: "b" }]);
    expect(added.map(({ name }) => name)).toEqual(["a", "b"]);
    expect((await queue().getJobs(["waiting"])).map(({ name }) => name)).toEqual(["b", "a"]);
  },
  "`defaultJobOptions`": async ({ queue }) => {
    const job = await queue({ defaultJobOptions: { attempts: 3 } }).add("a", {});
    expect((await queue().getJob(job.id))?.opts.attempts).toBe(3);
  },
  "`attempts`, 1 without it": async ({ queue, work }) => {
    const [once, thrice] = await queue().addBulk([{ name: "once" }, { name: "thrice", opts: { attempts: 3 } }]);
    const made: string[] = [];
    work(async ({ name, attemptsMade }) => {
      made.push(`${name} ${attemptsMade}`);
      throw new Error("no");
    });
    await eventually(async () => expect(await thrice?.getState()).toBe("failed"));
    expect(made.toSorted()).toEqual(["once 0", "thrice 0", "thrice 1", "thrice 2"]);
    const failed = await queue().getJob(once?.id ?? "");
    expect(failed).toMatchObject({ failedReason: "no", attemptsMade: 1 });
  },
  "`backoff`, fixed and exponential": async ({ queue, work }) => {
    const options = { attempts: 3, backoff: { type: "exponential", delay: 600 } };
    const job = await queue().add("a", {}, options);
    const at: number[] = [];
    work(async () => {
      at.push(Date.now());
      throw new Error("no");
    });
    await eventually(async () => expect(await job.getState()).toBe("failed"));
    const [first = 0, second = 0, third = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(590);
    expect(third - second).toBeGreaterThanOrEqual(1_190);
  },
  "`delay`": async ({ queue, work }) => {
    const job = await queue().add("later", {}, { delay: 1_500 });
    expect(await job.getState()).toBe("delayed");
    expect(job.opts.delay).toBe(1_500);
    const at: number[] = [];
    work(async () => void at.push(Date.now()));
    await eventually(() => expect(at).toHaveLength(1));
    expect((at[0] ?? 0) - job.timestamp).toBeGreaterThanOrEqual(1_400);
  },
  "`priority`, lower first, none at all before": async (world) => {
    const jobs = [10, 5, 7].map((priority) => ({ name: `p${priority}`, opts: { priority } }));
    const added = await world.queue().addBulk([...jobs, { name: "none" }]);
    expect(await added[0]?.getState()).toBe("prioritized");
    expect(await order(world, 4)).toEqual(["none", "p5", "p7", "p10"]);
  },
  "`jobId`: a job with the same one is not added": async ({ queue }) => {
    const first = await queue().add("a", { n: 1 }, { jobId: "one" });
    const second = await queue().add("a", { n: 2 }, { jobId: "one" });
    expect(second.id).toBe(first.id);
    expect((await queue().getJob("one"))?.data).toEqual({ n: 1 });
    expect(await queue().getWaiting()).toHaveLength(1);
  },
  "`deduplication: { id }`, until the job has ended": async (world) => {
    const add = () => world.queue().add("a", {}, { deduplication: { id: "d" } });
    expect((await add()).id).toBe((await add()).id);
    expect(await order(world, 1)).toEqual(["a"]);
    await add();
    await eventually(async () => expect(await world.queue().getCompleted()).toHaveLength(2));
  },
  "`deduplication: { id, ttl }`, for that time": async (world) => {
    const add = () => world.queue().add("a", {}, { deduplication: { id: "d", ttl: 60_000 } });
    await add();
    await order(world, 1);
    await add();
    expect(await world.queue().getWaiting()).toEqual([]);
  },
  "`deduplication` with `replace`, while it is delayed": async ({ queue }) => {
    const options = { delay: 60_000, deduplication: { id: "d", ttl: 60_000, extend: true, replace: true } };
    for (const version of [1, 2, 3]) await queue().add("a", { version }, options);
    expect((await queue().getDelayed()).map(({ data }) => data)).toEqual([{ version: 3 }]);
  },
  "`job.getState()`, `isFailed()` and its like": async ({ queue, work }) => {
    const job = await queue().add("a");
    expect([await job.getState(), await job.isWaiting(), await job.isFailed()]).toEqual(["waiting", true, false]);
    work();
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
  },
  "`job.retry()` of a failed job": async ({ queue, work }) => {
    const job = await queue().add("a");
    let runs = 0;
    work(async () => {
      if ((runs += 1) === 1) throw new Error("no");
    });
    await eventually(async () => expect(await job.isFailed()).toBe(true));
    await job.retry();
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
  },
  "`job.remove()`, but not of an active job": async ({ queue, work }) => {
    const [gone, active] = await queue().addBulk([{ name: "gone" }, { name: "active" }]);
    await gone?.remove();
    expect(await queue().getJob(gone?.id ?? "")).toBeUndefined();
    const over = Promise.withResolvers<void>();
    work(() => over.promise);
    await eventually(async () => expect(await active?.isActive()).toBe(true));
    await expect(active?.remove()).rejects.toThrow("could not be removed");
    over.resolve();
  },
  "`job.waitUntilFinished(queueEvents, ttl)`": async ({ queue, work, events }) => {
    const job = await queue().add("a");
    const all = await events();
    await expect(job.waitUntilFinished(all, 300)).rejects.toThrow();
    work(async () => {
      throw new Error("it broke");
    });
    await expect(job.waitUntilFinished(all, 20_000)).rejects.toThrow("it broke");
  },
  "`job.log()` and `queue.getJobLogs()`": async ({ queue, work }) => {
    const job = await queue().add("a");
    work(async (running) => {
      await running.log("first");
      await running.log("second");
    });
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
    expect(await queue().getJobLogs(job.id)).toEqual({ logs: ["first", "second"], count: 2 });
  },
  "`job.moveToDelayed()` in a processor": async ({ api, queue, work }) => {
    const job = await queue().add("a", {}, { attempts: 1 });
    const at: number[] = [];
    work(async (running, token) => {
      at.push(Date.now());
      if (at.length > 1) return;
      await running.moveToDelayed(Date.now() + 1_500, token);
      throw new api.DelayedError();
    });
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_400);
  },
};
