import { eventually } from "@atlasqueue/harness";
import { expect } from "vitest";
import type { Check } from "./checks-of-jobs.ts";

export const checksOfWorkers: Record<string, Check> = {
  "worker events `active`, `completed`, `failed`": async ({ queue, work }) => {
    const heard: unknown[] = [];
    const worker = work(async ({ name, attemptsMade }) => {
      if (name === "bad" && attemptsMade === 0) throw new Error("no");
      return 7;
    });
    worker.on("active", (job) => heard.push(["active", job.name]));
    worker.on("completed", (job, result) => heard.push(["completed", job.name, result, job.returnvalue]));
    worker.on("failed", (job, error) => heard.push(["failed", job.name, error.message, job.attemptsMade]));
    await queue().add("bad", {}, { attempts: 2 });
    await eventually(() => expect(heard.at(-1)).toEqual(["completed", "bad", 7, 7]));
    expect(heard.slice(0, 2)).toEqual([
      ["active", "bad"],
      ["failed", "bad", "no", 1],
    ]);
  },
  "worker event `drained`": async ({ queue, work }) => {
    await queue().addBulk([{ name: "a" }, { name: "b" }]);
    let drained = 0;
    work().on("drained", () => (drained += 1));
    await eventually(() => expect(drained).toBeGreaterThan(0));
    expect(await queue().getWaiting()).toEqual([]);
  },
  "`job.updateProgress()`, worker event `progress`": async ({ queue, work }) => {
    const job = await queue().add("a");
    const heard: unknown[] = [];
    const over = Promise.withResolvers<void>();
    work(async (running) => {
      await running.updateProgress({ done: 40 });
      await over.promise;
    }).on("progress", (_job, value) => heard.push(value));
    await eventually(async () => expect((await queue().getJob(job.id))?.progress).toEqual({ done: 40 }));
    over.resolve();
    expect(heard).toEqual([{ done: 40 }]);
  },
  "`UnrecoverableError`": async ({ api, queue, work }) => {
    const job = await queue().add("a", {}, { attempts: 5 });
    work(async () => {
      throw new api.UnrecoverableError("never");
    });
    await eventually(async () => expect(await job.isFailed()).toBe(true));
    expect(await queue().getJob(job.id)).toMatchObject({ failedReason: "never", attemptsMade: 1 });
  },
  "`concurrency` of a worker, 1 without it": async ({ queue, work }) => {
    const most = async (opts: { concurrency?: number }) => {
      let [running, at_most, done] = [0, 0, 0];
      await queue().addBulk(Array.from({ length: 6 }, () => ({ name: "a" })));
      const worker = work(async () => {
        at_most = Math.max(at_most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, 300));
        [running, done] = [running - 1, done + 1];
      }, opts);
      await eventually(() => expect(done).toBe(6));
      await worker.close();
      return at_most;
    };
    expect([await most({}), await most({ concurrency: 3 })]).toEqual([1, 3]);
  },
  "`autorun: false` and `worker.run()`": async ({ queue, work }) => {
    const job = await queue().add("a");
    const worker = work(undefined, { autorun: false });
    expect([worker.isRunning(), await job.getState()]).toEqual([false, "waiting"]);
    void worker.run();
    await eventually(async () => expect(await job.isCompleted()).toBe(true));
  },
  "`worker.pause()`, `resume()` and `close()`": async ({ queue, work }) => {
    const over = Promise.withResolvers<void>();
    const worker = work(() => over.promise);
    const first = await queue().add("a");
    await eventually(async () => expect(await first.isActive()).toBe(true));
    const paused = worker.pause();
    over.resolve();
    await paused;
    expect(worker.isPaused()).toBe(true);
    const second = await queue().add("b");
    expect([await first.getState(), await second.getState()]).toEqual(["completed", "waiting"]);
    worker.resume();
    await eventually(async () => expect(await second.isCompleted()).toBe(true));
    await worker.close();
    expect(await (await queue().add("c")).getState()).toBe("waiting");
  },
  "`limiter: { max, duration }`": async ({ queue, work }) => {
    await queue().addBulk(Array.from({ length: 3 }, () => ({ name: "a" })));
    const at: number[] = [];
    const worker = work(async () => void at.push(Date.now()), { limiter: { max: 1, duration: 1_000 }, concurrency: 3 });
    await worker.waitUntilReady();
    await eventually(() => expect(at).toHaveLength(3));
    expect((at[2] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_500);
  },
  "`QueueEvents`: `completed` and `failed`": async ({ queue, work, events }) => {
    const heard: unknown[] = [];
    const all = await events();
    all.on("completed", (event) => heard.push(event));
    all.on("failed", (event) => heard.push(event));
    const [good, bad] = await queue().addBulk([{ name: "good" }, { name: "bad" }]);
    work(async ({ name }) => {
      if (name === "bad") throw new Error("no");
      return 1;
    });
    const both = [
      expect.objectContaining({ jobId: good?.id, returnvalue: 1 }),
      expect.objectContaining({ jobId: bad?.id, failedReason: "no" }),
    ];
    await eventually(() => expect(heard).toEqual(expect.arrayContaining(both)));
  },
  "`QueueEvents`: `progress`": async ({ queue, work, events }) => {
    const heard: unknown[] = [];
    (await events()).on("progress", ({ data }) => heard.push(data));
    await queue().add("a");
    const over = Promise.withResolvers<void>();
    work(async (job) => {
      await job.updateProgress({ done: 40 });
      await over.promise;
    });
    await eventually(() => expect(heard).toEqual([{ done: 40 }]));
    over.resolve();
  },
};
