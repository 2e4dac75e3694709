import { memorySignal } from "@atlasqueue/core";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(() =>
  testApp({ signal: memorySignal(), backoff: { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 } }),
);

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

test("a nacked job is leased again when its delay is over, by a waiting call", async () => {
  const id = await submit("again");
  const first = await leaseOne("again");
  await post(`/jobs/${id}/nack`, { lease_token: first.lease_token, error: "x", delay_seconds: 0.05 });
  const second = await leaseOne("again", { wait_seconds: 30 });
  expect(second.job).toMatchObject({ id, attempts: 2, last_error: "x" });
  expect(second.lease_token).not.toBe(first.lease_token);
});
