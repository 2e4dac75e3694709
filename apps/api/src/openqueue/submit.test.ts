import { forFile } from "@atlasqueue/harness";
import { openQueueSubmittedBatch, job } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const submitBatch = (jobs: unknown[], key?: string) =>
  client.send("POST", "/jobs/batch", { jobs }, key === undefined ? {} : { "idempotency-key": key });
const total = async (query = "") => (await client.list(query)).total;

test("a payload is enough: the rest has defaults", async () => {
  const id = await client.submit({ payload: {} });
  expect(await client.detail(id)).toMatchObject({ queue_name: "default", priority: 0, retry_count: 0, max_retries: 3 });
  const stored = job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
  expect(stored).toMatchObject({ type: "openqueue", max_attempts: 4 });
});

test("a scheduled job is queued in the answer and pending afterwards; a run_at of null means now", async () => {
  const scheduled = await client.submit({ payload: {}, run_at: "2099-01-01T00:00:00+00:00", queue_name: "later" });
  expect(await client.read(await client.send("GET", `/jobs/${scheduled}`))).toEqual({
    job_id: scheduled,
    status: "pending",
  });
  expect(await client.lease("later")).toBeNull();
  const now = await client.submit({ payload: {}, run_at: null, queue_name: "later" });
  expect((await client.leaseOne("later")).job.id).toBe(now);
});

test("without a key, submitting the same job again makes another one", async () => {
  const body = { payload: { same: true }, queue_name: "keyless" };
  expect(await client.submit(body)).not.toBe(await client.submit(body));
});

test("a batch is stored whole, in its order, whatever its queues", async () => {
  const jobs = Array.from({ length: 1_000 }, (_, n) => ({ queue_name: `batch-${n % 2}`, payload: { n } }));
  const response = await submitBatch(jobs);
  const { job_ids, count } = openQueueSubmittedBatch.parse(await client.read(response, 201));
  expect([job_ids.length, count]).toEqual([1_000, 1_000]);
  expect((await client.detail(job_ids[7] ?? "")).payload).toEqual({ n: 7 });
  expect(await total("?queue_name=batch-1")).toBe(500);
});

test("a batch with a key is stored once; another batch under it is refused, wherever it differs", async () => {
  const jobs = [1, 2, 3].map((n) => ({ queue_name: "batch-key", payload: { n } }));
  const first = await submitBatch(jobs, "import-1");
  const again = await submitBatch(jobs, "import-1");
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(await again.json()).toEqual(await first.json());
  for (const other of [jobs.slice(0, 1), [...jobs, ...jobs], jobs.toReversed()])
    expect(await client.errorOf(await submitBatch(other, "import-1"), 422)).toContain("a batch with another body");
  expect(await total("?queue_name=batch-key")).toBe(3);
});
