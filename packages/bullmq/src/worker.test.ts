import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { fakeApi } from "../test/fake-api.ts";
import { startFacade, type World } from "../test/worlds.ts";
import { Worker } from "./index.ts";

const facade = forFile(startFacade);

function world(): World {
  const one = facade.world();
  onTestFinished(() => one.close());
  return one;
}

/** A worker that runs one job, which ends when it is let go. */
async function busy({ queue, work }: World) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  onTestFinished(() => letGo());
  const job = await queue().add("busy");
  const worker = work(() => promise);
  await eventually(async () => expect(await job.isActive()).toBe(true));
  return { job, worker, letGo };
}

test("a number that no worker may have throws at once", () => {
  const make = (opts: object) => new Worker("q", async () => {}, { connection: { url: facade.url }, ...opts });
  for (const concurrency of [0, 1_001, 1.5]) expect(() => make({ concurrency })).toThrow(RangeError);
  for (const lockDuration of [0, 3_600_001, Number.NaN]) expect(() => make({ lockDuration })).toThrow(RangeError);
});

async function limited(statuses: number[]) {
  const api = await fakeApi((asked) => {
    if (asked.startsWith("PUT")) return { status: statuses.shift() ?? 200 };
    return { status: asked.startsWith("GET") ? 404 : 500 };
  });
  const limiter = { max: 1, duration: 1_000 };
  const worker = new Worker("q", async () => {}, { connection: { url: api.url }, limiter });
  onTestFinished(() => worker.close(true));
  const errors: Error[] = [];
  worker.on("error", (error: Error) => errors.push(error));
  return { ...api, worker, errors };
}

test("a worker starts once its limiter is set", async () => {
  const { worker, errors } = await limited([500]);
  expect(worker.isRunning()).toBe(false);
  await eventually(() => expect(worker.isRunning()).toBe(true));
  expect(errors[0]).toMatchObject({ status: 500 });
});

test("a worker that may not set its limiter does not start", async () => {
  const { worker, errors, asked } = await limited([403]);
  await worker.waitUntilReady();
  expect(errors).toMatchObject([{ name: "AuthError" }]);
  expect(worker.isRunning()).toBe(false);
  expect(asked.filter((one) => one.startsWith("POST"))).toEqual([]);
});

test("a close ends the tries to set a limiter", async () => {
  const { worker } = await limited(Array.from({ length: 100 }, () => 500));
  await worker.close();
  await worker.waitUntilReady();
  expect(worker.isRunning()).toBe(false);
});

test("a close waits for the jobs that a pause left running", async () => {
  const { job, worker, letGo } = await busy(world());
  await worker.pause(true);
  let closed = false;
  const closing = worker.close().then(() => (closed = true));
  expect(await job.isActive()).toBe(true);
  expect(closed).toBe(false);
  letGo();
  await closing;
  expect(await job.isCompleted()).toBe(true);
});

test("a forced close during a pause gives the running jobs back", async () => {
  const { job, worker } = await busy(world());
  const paused = worker.pause();
  await worker.close(true);
  await paused;
  expect(await job.isActive()).toBe(false);
  expect(await job.isFailed()).toBe(false);
});

test("a resume waits for the jobs from before the pause, and does nothing after a close", async () => {
  const one = world();
  const { job, worker, letGo } = await busy(one);
  await worker.pause(true);
  worker.resume();
  const second = await one.queue().add("second");
  expect([await job.isActive(), worker.isRunning()]).toEqual([true, false]);
  letGo();
  await eventually(async () => expect(await second.isCompleted()).toBe(true));
  await worker.pause();
  await worker.close();
  worker.resume();
  await worker.run();
  expect(worker.isRunning()).toBe(false);
});
