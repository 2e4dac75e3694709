import { limits, openQueueLease, openQueueSubmitted, type OpenQueueLease } from "@atlasqueue/contract";
import { expect } from "vitest";
import type { Call, checkedRequests } from "./checked-request.ts";

type CallOperation = ReturnType<typeof checkedRequests>["call"];
type Held = NonNullable<OpenQueueLease>;

const nobody = "00000000-0000-0000-0000-000000000000";
const text = { "content-type": "text/plain" };
const payload = { deep: [1, { two: null }] };
const large = "x".repeat(300_000);
const provision = { headers: { "X-Admin-Secret": "correct horse battery" }, body: { email: "a@b.example" } };

/** Every operation of OpenQueue's surface, in the ways it can end. */
export async function tourOpenQueue(call: CallOperation): Promise<void> {
  await submitting(call);
  await reading(call);
  await cancelling(call);
  await working(call);
}

async function submitting(call: CallOperation): Promise<void> {
  const headers = { "Idempotency-Key": "tour of OpenQueue" };
  const batch = { headers: { "Idempotency-Key": "another" }, body: { jobs: [{ payload }, { payload }] } };
  for (const status of [201, 200]) {
    await call("openQueueSubmit", status, { headers, body: { payload, run_at: null } });
    await call("openQueueSubmitBatch", status, batch);
  }
  await call("openQueueSubmit", 422, { headers, body: { payload, priority: 1 } });
  await call("openQueueSubmitBatch", 422, { ...batch, body: { jobs: [{ payload }] } });
  await call("openQueueSubmit", 422, { headers: { "Idempotency-Key": "" }, body: { payload } });
  await call("openQueueSubmit", 422, { body: { payload, max_retries: 25, colour: "red" } });
  await call("openQueueSubmitBatch", 422, { body: { jobs: [{ payload }, { payload: [] }] } });
  await call("openQueueSubmit", 413, { body: { payload: { large } } });
  await call("openQueueSubmitBatch", 413, { body: " ".repeat(limits.body_bytes_max + 1) });
  for (const operation of ["openQueueSubmit", "openQueueSubmitBatch"]) await refusesNoJson(call, operation);
}

async function reading(call: CallOperation): Promise<void> {
  const id = await submit(call, "openqueue-read");
  const query = { queue_name: "openqueue-read", status: "pending", limit: "1", offset: "0" };
  await call("openQueueListJobs", 200);
  await call("openQueueListJobs", 200, { query });
  for (const bad of [{ status: "failed" }, { offset: "10001" }, { cursor: "a" }, { limit: "0" }])
    await call("openQueueListJobs", 422, { query: bad });
  for (const operation of ["openQueueGetJobStatus", "openQueueGetJob"]) {
    await call(operation, 200, { params: { id } });
    await call(operation, 404, { params: { id: nobody } });
    await call(operation, 422, { params: { id: "not-a-uuid" } });
    await call(operation, 422, { params: { id }, query: { wait_seconds: "1" } });
    await call(operation, 400, { params: { id: "\0" } });
  }
  await call("openQueueListQueues", 200);
  await call("openQueueListQueues", 422, { query: { limit: "1" } });
}

async function cancelling(call: CallOperation): Promise<void> {
  const params = { id: await submit(call, "openqueue-cancel") };
  await call("openQueueCancelJob", 422, { params, body: { force: true } });
  await call("openQueueCancelJob", 400, { params, body: "{" });
  await call("openQueueCancelJob", 413, { params, body: " ".repeat(2_000) });
  await call("openQueueCancelJob", 415, { params, body: "x=1", headers: text });
  await call("openQueueCancelJob", 200, { params });
  await call("openQueueCancelJob", 404, { params, body: {} });
  await call("openQueueCancelJob", 404, { params: { id: nobody } });
  await call("openQueueCancelJob", 422, { params: { id: "not-a-uuid" } });
}

async function working(call: CallOperation): Promise<void> {
  const queue = "openqueue-work";
  const body = { worker_id: "tourist" };
  await call("openQueueLease", 200, { params: { queue: "empty" }, body });
  await call("openQueueLease", 422, { params: { queue }, body: { worker_id: "", lease_seconds: 0 } });
  await call("openQueueLease", 422, { params: { queue: "a b" }, body });
  await refusesNoJson(call, "openQueueLease", { queue });
  await submit(call, queue);
  await submit(call, queue);
  const [acked, nacked] = [await lease(call, queue), await lease(call, queue)];
  await call("openQueueHeartbeat", 200, of(acked, { lease_seconds: 60 }));
  await call("openQueueAck", 413, of(acked, { result: large }));
  await call("openQueueAck", 200, of(acked, { result: { sent: [true] } }));
  await call("openQueueAck", 200, of(acked, { result: { sent: [true] } }));
  await call("openQueueNack", 200, of(nacked, { error: "no such customer" }));
  for (const { job } of [acked, nacked]) await call("openQueueGetJob", 200, { params: { id: job.id } });
  for (const operation of ["openQueueAck", "openQueueNack", "openQueueHeartbeat"]) {
    const more = operation === "openQueueNack" ? { error: "late" } : {};
    const unknown = { job: { ...acked.job, id: nobody }, lease_token: nobody };
    for (const lease_token of [nobody, "no token"]) await call(operation, 409, of({ ...acked, lease_token }, more));
    await call(operation, 404, of(unknown, more));
    await call(operation, 422, of({ ...unknown, job: { ...acked.job, id: "not-a-uuid" } }, more));
    await call(operation, 422, of(acked, { ...more, colour: "red" }));
    await refusesNoJson(call, operation, { id: acked.job.id });
  }
}

async function refusesNoJson(call: CallOperation, operation: string, params: Record<string, string> = {}) {
  await call(operation, 400, { params, body: "{" });
  await call(operation, 415, { params, body: "{}", headers: text });
}

/** Every operation that asks the database, while it is away. */
export async function tourOpenQueueLost(call: CallOperation): Promise<void> {
  const params = { id: nobody, queue: "default" };
  const job = { payload };
  const bodies: Record<string, object | undefined> = {
    openQueueListJobs: undefined,
    openQueueGetJobStatus: undefined,
    openQueueGetJob: undefined,
    openQueueListQueues: undefined,
    openQueueCancelJob: undefined,
    openQueueSubmit: job,
    openQueueSubmitBatch: { jobs: [job] },
    openQueueLease: { worker_id: "tourist" },
    openQueueAck: { lease_token: nobody },
    openQueueNack: { lease_token: nobody, error: "?" },
    openQueueHeartbeat: { lease_token: nobody },
  };
  for (const [operation, body] of Object.entries(bodies)) {
    const response = await call(operation, 503, { params, ...(body && { body }) });
    expect(response.headers.get("retry-after")).toBe("1");
  }
  // Whose secret is not set here: that does not pass by itself.
  expect((await call("openQueueProvision", 503, provision)).headers.get("retry-after")).toBeNull();
}

/** `POST /admin/provision`, in the ways it can end where it is on. */
export async function tourProvisioning(call: CallOperation): Promise<void> {
  const { headers, body } = provision;
  await call("openQueueProvision", 200, provision);
  await call("openQueueProvision", 403, { body });
  await call("openQueueProvision", 422, { headers, body: { email: "nobody" } });
  await call("openQueueProvision", 400, { headers, body: "{" });
  await call("openQueueProvision", 413, { headers, body: " ".repeat(limits.body_bytes_max + 1) });
  await call("openQueueProvision", 415, { headers: { ...headers, ...text }, body: "{}" });
}

async function submit(call: CallOperation, queue_name: string): Promise<string> {
  const response = await call("openQueueSubmit", 201, { body: { queue_name, payload } });
  return openQueueSubmitted.parse(await response.json()).job_id;
}

async function lease(call: CallOperation, queue: string): Promise<Held> {
  const response = await call("openQueueLease", 200, { params: { queue }, body: { worker_id: "tourist" } });
  const held = openQueueLease.parse(await response.json());
  if (!held) throw new Error(`There was nothing to lease in ${queue}`);
  return held;
}

const of = ({ job, lease_token }: Pick<Held, "job" | "lease_token">, more: object = {}): Call => ({
  params: { id: job.id },
  body: { lease_token, ...more },
});
