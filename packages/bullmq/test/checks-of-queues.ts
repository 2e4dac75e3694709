import { eventually } from "@atlasqueue/harness";
import { expect } from "vitest";
import type { Check } from "./checks-of-jobs.ts";

export const checksOfQueues: Record<string, Check> = {
  "`queue.getJobs()`, `getJobCounts()`": async ({ queue, work }) => {
    await queue().addBulk([{ name: "a" }, { name: "b" }, { name: "c", opts: { delay: 60_000 } }]);
    const names = async (...range: [number, number, boolean]) =>
      (await queue().getJobs(["waiting", "delayed"], ...range)).map(({ name }) => name);
    expect([await names(0, 0, true), await names(0, -1, false)]).toEqual([
      ["a", "c"],
      ["b", "a", "c"],
    ]);
    const counts = () => queue().getJobCounts("waiting", "delayed", "completed", "failed");
    await eventually(async () => expect(await counts()).toEqual({ waiting: 2, delayed: 1, completed: 0, failed: 0 }));
    work();
    await eventually(async () => expect(await queue().getCompletedCount()).toBe(2));
  },
  "`queue.pause()`, `resume()`, `isPaused()`": async ({ queue, work }) => {
    await queue().pause();
    expect(await queue().isPaused()).toBe(true);
    const job = await queue().add("a");
    await work().waitUntilReady();
    expect(await job.isCompleted()).toBe(false);
    await queue().resume();
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
  },
  "`queue.remove(jobId)`": async ({ queue }) => {
    await queue().add("a", {}, { jobId: "one" });
    expect(await queue().remove("one")).toBe(1);
    expect(await queue().getJob("one")).toBeUndefined();
  },
  "`queue.drain(delayed)`": async ({ queue }) => {
    const [, later] = await queue().addBulk([{ name: "a" }, { name: "b", opts: { delay: 60_000 } }]);
    await queue().drain();
    expect((await queue().getJobs(["waiting", "delayed"])).map(({ id }) => id)).toEqual([later?.id]);
    await queue().drain(true);
    expect(await queue().getJobs(["waiting", "delayed"])).toEqual([]);
  },
  "`queue.obliterate()`, not while jobs run": async ({ queue, work }) => {
    const over = Promise.withResolvers<void>();
    const job = await queue().add("a");
    const worker = work(() => over.promise);
    await eventually(async () => expect(await job.isActive()).toBe(true));
    await expect(queue().obliterate()).rejects.toThrow("active");
    over.resolve();
    await worker.close();
    await queue().obliterate();
    expect(await queue().getJobs()).toEqual([]);
  },
  "`queue.setGlobalConcurrency()`": async ({ queue, work }) => {
    await queue().setGlobalConcurrency(1);
    await queue().addBulk([{ name: "a" }, { name: "b" }]);
    let [running, at_most, done] = [0, 0, 0];
    const run = async () => {
      at_most = Math.max(at_most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 200));
      [running, done] = [running - 1, done + 1];
    };
    work(run, { concurrency: 2 });
    await eventually(() => expect(done).toBe(2));
    expect(at_most).toBe(1);
  },
  "`queue.upsertJobScheduler(id, { pattern, tz })`": async ({ queue }) => {
    const repeat = { pattern: "0 15 3 * * *", tz: "Europe/Berlin" };
    await queue().upsertJobScheduler("nightly", repeat, { name: "report", data: { full: true } });
    await queue().upsertJobScheduler("nightly", { pattern: "30 4 * * *", tz: "UTC" }, { name: "report", data: {} });
    expect(await queue().getJobSchedulers()).toMatchObject([{ key: "nightly", name: "report", tz: "UTC" }]);
    expect(await queue().removeJobScheduler("nightly")).toBe(true);
    expect(await queue().removeJobScheduler("nightly")).toBe(false);
  },
  "`FlowProducer`: a parent runs after its children": async ({ flows, name, work, queue }) => {
    const child = (place: string) => ({ name: "paint", queueName: name, data: { place } });
    const flow = { name: "renovate", queueName: name, children: [child("walls"), child("floor")] };
    const { job, children } = await flows().add(flow);
    expect(children).toHaveLength(2);
    expect(await job.getState()).toBe("waiting-children");
    const seen: string[] = [];
    work(async (running) => {
      seen.push(running.name);
      return running.name === "paint" ? running.data.place : Object.values(await running.getChildrenValues());
    });
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
    expect(seen).toEqual(["paint", "paint", "renovate"]);
    expect((await queue().getJob(job.id))?.returnvalue.toSorted()).toEqual(["floor", "walls"]);
  },
  "a failed child: its parent waits": async ({ flows, name, work }) => {
    const child = { name: "bad", queueName: name };
    const { job, children } = await flows().add({ name: "top", queueName: name, children: [child] });
    work(async () => {
      throw new Error("no");
    });
    await eventually(async () => expect(await children?.[0]?.job.isFailed()).toBe(true));
    expect(await job.getState()).toBe("waiting-children");
  },
  "`failParentOnFailure`, `ignoreDependencyOnFailure`": async ({ flows, name, work }) => {
    const add = async (opts: object) =>
      (await flows().add({ name: "top", queueName: name, children: [{ name: "bad", queueName: name, opts }] })).job;
    const fails = await add({ failParentOnFailure: true });
    const runs = await add({ ignoreDependencyOnFailure: true });
    work(async (job) => {
      if (job.name === "bad") throw new Error("no");
    });
    await eventually(async () => expect(await fails.isFailed()).toBe(true));
    await eventually(async () => expect(await runs.isCompleted()).toBe(true));
  },
};
