import { forFile } from "@atlasqueue/harness";
import { job, type Job } from "@atlasqueue/contract";
import { promoteAll } from "@atlasqueue/core/internal";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const native = async (id: string): Promise<Job> => job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
const hold = async (queue: string, fields: object = {}) => {
  await client.submit({ queue_name: queue, payload: {}, ...fields });
  return client.leaseOne(queue);
};
/** The job's time has come. */
const ripen = async (id: string) => {
  await api.deps.database
    .sql`UPDATE atlasqueue.jobs SET run_at = now(), due_at = now() WHERE id = ${id} AND status = 'failed'`;
  await promoteAll(api.deps);
};

test("a lease lasts 30 seconds, or as long as it says", async () => {
  for (const [fields, seconds] of [
    [{}, 30],
    [{ lease_seconds: 3_600 }, 3_600],
  ] as const) {
    await client.submit({ queue_name: "long", payload: {} });
    const response = await client.send("POST", "/queues/long/lease", { worker_id: "w1", ...fields });
    const { job: leased, lease_expires_at } = (await response.json()) as Awaited<ReturnType<typeof client.leaseOne>>;
    expect(Date.parse(lease_expires_at) - Date.parse(leased.started_at ?? "")).toBe(seconds * 1_000);
  }
});

test("a retry waits min(2^retry_count, 300) s, to the millisecond, until there are none left", async () => {
  const id = await client.submit({ queue_name: "retries", payload: {}, max_retries: 10 });
  for (let retry_count = 1; retry_count <= 10; retry_count += 1) {
    const held = await client.leaseOne("retries");
    expect(held.job).toMatchObject({ id, status: "processing", retry_count: retry_count - 1 });
    expect((await client.settle("nack", held, { error: `E: ${retry_count}` })).status).toBe(200);
    expect(await client.detail(id)).toMatchObject({
      status: "pending",
      retry_count,
      error_text: `E: ${retry_count}`,
      finished_at: null,
    });
    const { run_at, updated_at } = await native(id);
    expect(Date.parse(run_at) - Date.parse(updated_at)).toBe(Math.min(2 ** retry_count, 300) * 1_000);
    expect(await client.lease("retries")).toBeNull();
    await ripen(id);
  }
  await client.settle("nack", await client.leaseOne("retries"), { error: "E: last" });
  expect(await client.detail(id)).toMatchObject({
    status: "dead",
    retry_count: 10,
    max_retries: 10,
    error_text: "E: last",
    finished_at: expect.any(String),
  });
});

test("a job with its own backoff waits by that, here too", async () => {
  const backoff = { kind: "fixed", base_seconds: 7 } as const;
  await api.post("own-backoff", { type: "a", queue: "own", backoff });
  const held = await client.leaseOne("own");
  await client.settle("nack", held, { error: "x" });
  const { run_at, updated_at } = await native(held.job.id);
  expect(Date.parse(run_at) - Date.parse(updated_at)).toBe(7_000);
});

test("a nack without a retry makes the job dead at once; max_retries 0 does too", async () => {
  for (const [fields, nack] of [
    [{}, { retry: false }],
    [{ max_retries: 0 }, {}],
  ] as const) {
    const held = await hold("at-once", fields);
    const nacked = await client.settle("nack", held, { error: "no use", ...nack });
    expect(await client.read(nacked)).toEqual({ job_id: held.job.id, status: "failed_or_requeued" });
    expect(await client.detail(held.job.id)).toMatchObject({ status: "dead", retry_count: 0, error_text: "no use" });
  }
});

test("a stale token is 409: after a lease that was taken over, an ack, and a cancel on /v1", async () => {
  const lost = await hold("stale", { max_retries: 5 });
  await client.settle("nack", lost, { error: "x" });
  await ripen(lost.job.id);
  const next = await client.leaseOne("stale");
  expect(next.lease_token).not.toBe(lost.lease_token);
  expect((await client.settle("ack", lost)).status).toBe(409);
  expect((await client.settle("heartbeat", lost)).status).toBe(409);
  await client.settle("ack", next);
  expect((await client.settle("nack", next, { error: "too late" })).status).toBe(409);
  expect((await client.settle("heartbeat", next)).status).toBe(409);
  const cancelled = await hold("stale");
  await client.send("POST", `/v1/jobs/${cancelled.job.id}/cancel`);
  expect((await client.settle("ack", cancelled)).status).toBe(409);
});
