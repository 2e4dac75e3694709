import { memorySignal } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";

let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  api = await testApp({ signal: memorySignal(), backoff: { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 } });
});
afterAll(() => api.stop());

const { post, submit, lease, leaseOne } = leaseCalls(() => api);

test("a waiting call gets the job that comes", async () => {
  const waiting = lease("waits", { wait_seconds: 30 });
  const id = await submit("waits");
  expect((await waiting).map((held) => held.job.id)).toEqual([id]);
});

test("a wait that times out ends empty-handed, and takes nothing afterwards", async () => {
  expect(await lease("in-vain", { wait_seconds: 0.05 })).toEqual([]);
  const id = await submit("in-vain");
  expect((await leaseOne("in-vain")).job.id).toBe(id);
});

test("five hundred calls wait at once, and each job wakes one of them", async () => {
  const calls = Array.from({ length: 500 }, () => lease("crowd", { wait_seconds: 30 }));
  const ids = await Promise.all(Array.from({ length: 500 }, () => submit("crowd")));
  const got = (await Promise.all(calls)).flatMap((jobs) => jobs.map((held) => held.job.id));
  expect(got.toSorted()).toEqual(ids.toSorted());
});

test("queues do not keep each other waiting", async () => {
  const calls = ["q1", "q2", "q3"].map((queue) => lease(queue, { wait_seconds: 30 }));
  const ids = [];
  for (const queue of ["q3", "q1", "q2"]) ids.push([queue, await submit(queue)]);
  const got = (await Promise.all(calls)).flatMap((jobs) => jobs.map((held) => [held.job.queue, held.job.id]));
  expect(got.toSorted()).toEqual(ids.toSorted());
});

test("jobs leased for a worker that has hung up go back, with no attempt spent", async () => {
  const gone = new AbortController();
  const call = { tenant: "default", queue: "hung-up", worker_id: "w", lease_seconds: 30, jobs_max: 1, wait_ms: 30_000 };
  const waiting = api.deps.longPoll.lease(call, gone.signal);
  const id = await submit("hung-up");
  gone.abort();
  const [leased] = (await waiting).jobs;
  // As its route does for a caller that is gone.
  if (leased) api.deps.longPoll.release("default", leased.lease_token);
  await eventually(async () => {
    const [held] = await lease("hung-up");
    expect(held?.job).toMatchObject({ id, attempts: 1 });
  });
});

test("a nacked job is leased again when its delay is over, by a waiting call", async () => {
  const id = await submit("again");
  const first = await leaseOne("again");
  await post(`/jobs/${id}/nack`, { lease_token: first.lease_token, error: "x", delay_seconds: 0.05 });
  const second = await leaseOne("again", { wait_seconds: 30 });
  expect(second.job).toMatchObject({ id, attempts: 2, last_error: "x" });
  expect(second.lease_token).not.toBe(first.lease_token);
});
