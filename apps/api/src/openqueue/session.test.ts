import { forFile } from "@atlasqueue/harness";
import { job, queuePage, type Job } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const anyTime = expect.stringMatching(time) as string;
const native = async (id: string): Promise<Job> => job.parse(await (await api.get(`/v1/jobs/${id}`)).json());

test("a client's whole session is answered to the letter", async () => {
  const { send } = client;
  const payload = { task: "send", to: ["a@b.c"] };
  const created = await send("POST", "/jobs", { queue_name: "mail", payload, priority: 5, max_retries: 2 });
  expect(created.status).toBe(201);
  expect(created.headers.get("content-type")).toBe("application/json");
  const { job_id } = (await created.json()) as { job_id: string };
  expect(job_id).toMatch(uuid);
  expect(await (await send("GET", `/jobs/${job_id}`)).json()).toEqual({ job_id, status: "pending" });
  const waiting = {
    id: job_id,
    queue_name: "mail",
    status: "pending",
    priority: 5,
    payload,
    result: null,
    error_text: null,
    retry_count: 0,
    max_retries: 2,
    created_at: anyTime,
    updated_at: anyTime,
    started_at: null,
    finished_at: null,
  };
  expect(await (await send("GET", `/jobs/${job_id}/detail`)).json()).toEqual(waiting);
  expect(await (await send("GET", "/jobs?queue_name=mail&status=pending&limit=10&offset=0")).json()).toEqual({
    items: [waiting],
    total: 1,
    limit: 10,
    offset: 0,
  });

  const leased = await send("POST", "/queues/mail/lease", { worker_id: "worker-1", lease_seconds: 60 });
  expect(leased.status).toBe(200);
  const held = (await leased.json()) as { lease_token: string };
  expect(held).toEqual({
    job: { ...waiting, status: "processing", updated_at: anyTime, started_at: anyTime },
    lease_token: expect.stringMatching(uuid),
    lease_expires_at: anyTime,
  });
  const { lease_token } = held;
  const beat = await send("POST", `/jobs/${job_id}/heartbeat`, { lease_token, lease_seconds: 120 });
  expect([beat.status, await beat.json()]).toEqual([200, { job_id, status: "lease_extended" }]);
  const acked = await send("POST", `/jobs/${job_id}/ack`, { lease_token, result: { sent: 1 } });
  expect([acked.status, await acked.json()]).toEqual([200, { job_id, status: "completed" }]);
  expect(await (await send("GET", `/jobs/${job_id}/detail`)).json()).toEqual({
    ...waiting,
    status: "completed",
    result: { sent: 1 },
    started_at: anyTime,
    finished_at: anyTime,
  });

  const empty = await send("POST", "/queues/mail/lease", { worker_id: "worker-1", lease_seconds: 60 });
  expect([empty.status, await empty.text()]).toEqual([200, "null"]);

  const jobs = [{ queue_name: "mail", payload: { n: 1 } }, { payload: { n: 2 } }];
  const batch = await send("POST", "/jobs/batch", { jobs });
  const { job_ids } = (await batch.clone().json()) as { job_ids: string[] };
  expect([batch.status, await batch.json()]).toEqual([201, { job_ids: [anyId, anyId], count: 2 }]);

  const [first = "", second = ""] = job_ids;
  const failing = await client.leaseOne("mail");
  expect(failing.job.id).toBe(first);
  const nacked = await client.settle("nack", failing, { error: "SmtpError: no", retry: true });
  expect([nacked.status, await nacked.json()]).toEqual([200, { job_id: first, status: "failed_or_requeued" }]);

  const cancelled = await send("POST", `/jobs/${second}/cancel`);
  expect([cancelled.status, await cancelled.json()]).toEqual([200, { job_id: second, status: "cancelled" }]);

  const counts = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0, dead: 0 };
  const dashboard = await send("GET", "/dashboard/queues");
  expect([dashboard.status, await dashboard.json()]).toEqual([
    200,
    [
      { queue_name: "default", ...counts, cancelled: 1, total: 1, oldest_pending_created_at: null },
      {
        queue_name: "mail",
        ...counts,
        pending: 1,
        failed: 1,
        completed: 1,
        total: 2,
        oldest_pending_created_at: anyTime,
      },
    ],
  ]);
});

const anyId = expect.stringMatching(uuid) as string;

test("a job submitted here is a job of /v1, of type openqueue", async () => {
  const run_at = "2099-01-31T12:00:00+02:00";
  const id = await client.submit({ queue_name: "here", payload: { a: 1 }, priority: -3, max_retries: 0, run_at });
  expect(await native(id)).toMatchObject({
    type: "openqueue",
    queue: "here",
    status: "scheduled",
    payload: { a: 1 },
    priority: -3,
    max_attempts: 1,
    run_at: "2099-01-31T10:00:00.000Z",
  });
  const queues = queuePage.parse(await (await api.get("/v1/queues")).json()).items;
  expect(queues.find(({ queue }) => queue === "here")?.counts.scheduled).toBe(1);
});

test("a job submitted on /v1 is seen, leased and settled here, and its result is there", async () => {
  const created = job.parse(await (await api.post("there-1", { type: "a", queue: "there", payload: { b: 2 } })).json());
  expect(await client.detail(created.id)).toMatchObject({ queue_name: "there", status: "pending", max_retries: 4 });
  expect((await client.list("?queue_name=there")).items.map(({ id }) => id)).toEqual([created.id]);
  const held = await client.leaseOne("there");
  expect(held.job).toMatchObject({ id: created.id, payload: { b: 2 } });
  expect((await native(created.id)).worker_id).toBe("w1");
  await client.settle("ack", held, { result: { done: true } });
  expect(await native(created.id)).toMatchObject({ status: "succeeded", result: { done: true } });
});

test("a job leased on /v1 can be settled here by its token, and cannot be cancelled here", async () => {
  const id = await client.submit({ queue_name: "both", payload: {} });
  const leased = await client.send("POST", "/v1/queues/both/lease", { worker_id: "native" });
  const { jobs } = (await leased.json()) as { jobs: { lease_token: string }[] };
  expect((await client.cancel(id)).status).toBe(404);
  const acked = await client.send("POST", `/jobs/${id}/ack`, { lease_token: jobs[0]?.lease_token });
  expect(await client.read(acked)).toEqual({ job_id: id, status: "completed" });
});
