import { noSignal } from "@atlasqueue/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkedRequests } from "../../test/checked-request.ts";
import { tourFlows, tourSteps } from "../../test/flow-tour.ts";
import { guardedApp } from "../../test/guarded-app.ts";
import { tourOpenQueue, tourProvisioning } from "../../test/openqueue-tour.ts";
import { tourActs, tourAudit, tourDeadLetterGroups, tourSession } from "../../test/operator-tour.ts";
import { tourLimits, tourPauses, tourSchedules } from "../../test/queue-tour.ts";
import { tourFigures, tourItself, tourMcp } from "../../test/server-tour.ts";
import { testApp } from "../../test/test-app.ts";
import { operations } from "../routes.ts";

let api: Awaited<ReturnType<typeof testApp>>;
let call: ReturnType<typeof checkedRequests>["call"];
let seen: ReturnType<typeof checkedRequests>["seen"];
beforeAll(async () => {
  api = await testApp({ admin_secret: "correct horse battery" });
  ({ call, seen } = checkedRequests(api.app));
});
afterAll(() => api.stop());

const nobody = "00000000-0000-0000-0000-000000000000";
const bad_id = { id: "not-a-uuid" };

async function submit(key: string, body: object = {}): Promise<string> {
  const headers = { "Idempotency-Key": key };
  const response = await call("submitJob", 201, { headers, body: { type: "tour", ...body } });
  return ((await response.json()) as { id: string }).id;
}

async function lease(queue: string): Promise<{ id: string; lease_token: string }> {
  const response = await call("leaseJobs", 200, { params: { queue }, body: { worker_id: "tourist" } });
  const { jobs } = (await response.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
  const [first] = jobs;
  if (!first) throw new Error(`There was nothing to lease in ${queue}`);
  return { id: first.job.id, lease_token: first.lease_token };
}

test("submitting is answered as documented", async () => {
  const headers = { "Idempotency-Key": "submit" };
  await submit("submit", { payload: { deep: [1, { two: null }] }, delay_seconds: 60 });
  await call("submitJob", 200, {
    headers,
    body: { type: "tour", payload: { deep: [1, { two: null }] }, delay_seconds: 60 },
  });
  await call("submitJob", 422, { headers, body: { type: "other" } });
  await call("submitJob", 422, { body: { type: "" } });
  await call("submitJob", 400, { headers, body: "{" });
  await call("submitJob", 415, { headers: { ...headers, "content-type": "text/plain" }, body: "{}" });
  await call("submitJob", 413, { headers, body: { type: "tour", payload: { x: "x".repeat(300_000) } } });
  const unique = { on_conflict: "reject" };
  await submit("unique", { queue: "unique", unique });
  await call("submitJob", 409, {
    headers: { "Idempotency-Key": "other" },
    body: { type: "tour", queue: "unique", unique },
  });
  await call("submitJob", 200, {
    headers: { "Idempotency-Key": "third" },
    body: { type: "tour", queue: "unique", unique: {} },
  });
  await call("submitJobs", 409, { body: { jobs: [{ type: "tour", queue: "unique", unique, idempotency_key: "u" }] } });
  await call("submitJobs", 201, { body: { jobs: [{ type: "tour", idempotency_key: "batch" }] } });
  await call("submitJobs", 422, { body: { jobs: [{ type: "other", idempotency_key: "batch" }] } });
  await call("submitJobs", 422, { body: { jobs: [] } });
  const lines = { "content-type": "application/x-ndjson" };
  const line = JSON.stringify({ type: "tour", idempotency_key: "line" });
  const streamed = await call("streamJobs", 200, { headers: lines, body: `${line}\n{\n${line}\n` });
  expect((await streamed.text()).split("\n")).toHaveLength(5);
  await call("streamJobs", 415, { body: { type: "tour", idempotency_key: "line" } });
  await call("streamJobs", 422, { headers: lines, body: line, query: { x: "1" } });
  const flow = {
    jobs: [
      { ref: "a", type: "tour" },
      { type: "tour", depends_on: ["a"] },
    ],
    then: { type: "tour" },
  };
  for (const _time of ["first", "again"])
    await call("submitJobs", 201, { headers: { "Idempotency-Key": "flow" }, body: flow });
  const parent = await submit("parent", { queue: "flow" });
  const id = await submit("child", { depends_on: [parent] });
  await call("getJob", 200, { params: { id } });
  await call("listParents", 200, { params: { id } });
  await call("listParents", 404, { params: { id: nobody } });
  await call("listParents", 422, { params: bad_id });
  await call("listParents", 400, { params: { id }, query: { cursor: "x" } });
  await call("submitJobs", 413, { body: " ".repeat(1_100_000) });
});

test("dead letters are answered as documented", async () => {
  await submit("dead", { queue: "dead", max_attempts: 1 });
  const { id, lease_token } = await lease("dead");
  await call("nackJob", 200, { params: { id }, body: { lease_token, error: "E", retry: false } });
  await call("listDeadLetters", 200, {});
  await call("listDeadLetters", 422, { query: { limit: "0" } });
  await tourDeadLetterGroups(call);
  for (const what of ["replayDeadLetters", "purgeDeadLetters"] as const) {
    await call(what, 200, { body: { queue: "dead", dry_run: true } });
    await call(what, 200, { body: { ids: [id] } });
    await call(what, 422, { body: {} });
    await call(what, 400, { body: "{" });
  }
});

test("reading is answered as documented, whatever the state of the job", async () => {
  const id = await submit("read", { queue: "read", group: undefined });
  await call("getJob", 200, { params: { id } });
  await call("getJob", 404, { params: { id: nobody } });
  await call("getJob", 422, { params: bad_id });
  await call("getJob", 422, { params: { id }, query: { wait_seconds: "31" } });
  await call("getJob", 400, { params: { id: "\0" } });
  await call("explainJob", 200, { params: { id } });
  await call("explainJob", 404, { params: { id: nobody } });
  await call("explainJob", 422, { params: bad_id });
  const held = await lease("read");
  await call("getJob", 200, { params: { id } });
  await call("explainJob", 200, { params: { id } });
  await call("heartbeat", 200, { params: { id }, body: { lease_token: held.lease_token, progress: [1] } });
  await call("listAttempts", 200, { params: { id } });
  await call("nackJob", 200, { params: { id }, body: { lease_token: held.lease_token, error: "no", retry: false } });
  await call("getJob", 200, { params: { id } });
  await call("explainJob", 200, { params: { id } });
  await call("listAttempts", 200, { params: { id } });
  await call("listAttempts", 404, { params: { id: nobody } });
  await call("listAttempts", 422, { params: bad_id });
  await call("listJobs", 200);
  await call("listJobs", 200, { query: { queue: "read", status: "dead", type: "tour", limit: "1" } });
  await call("listJobs", 422, { query: { status: "foo" } });
  await call("listJobs", 400, { query: { cursor: "tampered" } });
});

test("changing a job's course is answered as documented", async () => {
  const id = await submit("change", { queue: "change" });
  await call("retryJob", 409, { params: { id } });
  await call("cancelJob", 200, { params: { id } });
  await call("cancelJob", 409, { params: { id } });
  await call("retryJob", 200, { params: { id }, body: {} });
  const headers = { "Idempotency-Key": "change" };
  for (const _ of ["first", "again"]) await call("cancelJob", 200, { params: { id }, headers });
  await call("retryJob", 422, { params: { id }, headers });
  for (const operation of ["cancelJob", "retryJob"]) {
    await call(operation, 404, { params: { id: nobody } });
    await call(operation, 422, { params: bad_id });
    await call(operation, 422, { params: { id }, body: { force: true } });
    await call(operation, 400, { params: { id }, body: "{" });
    await call(operation, 413, { params: { id }, body: " ".repeat(2_000) });
    await call(operation, 415, { params: { id }, body: "x=1", headers: { "content-type": "text/plain" } });
  }
});

test("working under leases is answered as documented", async () => {
  for (const key of ["1", "2", "3"]) await submit(`work ${key}`, { queue: "work" });
  await call("leaseJobs", 200, { params: { queue: "empty" }, body: { worker_id: "tourist" } });
  await call("leaseJobs", 422, { params: { queue: "work" }, body: { worker_id: "", lease_seconds: 0 } });
  await call("leaseJobs", 422, { params: { queue: "a b" }, body: { worker_id: "tourist" } });
  const [acked, nacked, settled] = [await lease("work"), await lease("work"), await lease("work")];
  await submit("work 4", { queue: "given-back" });
  await submit("work 5", { queue: "all-given-back" });
  const of = ({ id, lease_token }: typeof acked, more: object = {}) => ({
    params: { id },
    body: { lease_token, ...more },
  });
  await call("heartbeat", 200, of(acked, { lease_seconds: 60, progress: { percent: 50 } }));
  await call("heartbeat", 413, of(acked, { progress: "x".repeat(20_000) }));
  await call("ackJob", 413, of(acked, { result: "x".repeat(300_000) }));
  const child = { type: "tour", queue: "children" };
  await call("ackJob", 422, of(acked, { children: [{ ...child, depends_on: ["nobody"] }] }));
  await submit("holder", { ...child, unique: { key: "k" } });
  const unique = { key: "k", on_conflict: "reject" };
  await call("ackJob", 409, of(acked, { children: [{ ...child, unique }] }));
  await call("ackJob", 200, of(acked, { result: { sent: [true] }, children: [child], dependants_wait: true }));
  await call("ackJob", 200, of(acked, { result: { sent: [true] } }));
  await call("nackJob", 200, of(nacked, { error: "no such customer", delay_seconds: 1 }));
  await call("releaseJob", 200, of(await lease("given-back")));
  await call("releaseLease", 200, { body: { lease_token: (await lease("all-given-back")).lease_token } });
  await call("releaseLease", 200, { body: { lease_token: nobody } });
  await call("releaseLease", 422, { body: { lease_token: "mine" } });
  const { id, lease_token } = settled;
  const stranger = { id: "11111111-1111-1111-1111-111111111111", lease_token };
  await call("settleLeases", 200, {
    body: { acks: [{ id, lease_token }], nacks: [{ ...stranger, error: "?" }] },
  });
  await call("settleLeases", 422, {
    body: {
      acks: [
        { id, lease_token },
        { id, lease_token },
      ],
    },
  });
  for (const operation of ["ackJob", "nackJob", "releaseJob", "heartbeat"]) {
    const error = operation === "nackJob" ? { error: "late" } : {};
    await call(operation, 409, of({ ...acked, lease_token: nobody }, error));
    await call(operation, 404, of({ id: nobody, lease_token: nobody }, error));
    await call(operation, 422, of({ ...bad_id, lease_token: nobody }, error));
    await call(operation, 422, of(acked, { colour: "red" }));
  }
});

test("steps and signals are answered as documented", () => tourSteps(call, submit, lease));

test("flows are answered as documented", () => tourFlows(call));

test("pausing and resuming is answered as documented", () => {
  const { sql } = api.deps.database;
  const unfinish = (key: string) =>
    sql`UPDATE atlasqueue.audit_log SET finished = false WHERE idempotency_key = ${key}`;
  return tourPauses(call, submit, unfinish);
});

test("schedules are answered as documented", () => tourSchedules(call));

test("setting limits is answered as documented", () => tourLimits(call));

test("the list of workers is answered as documented, even without Redis", async () => {
  const facts = { host: "box", pid: 17, queues: ["default"], handlers: ["tour"], concurrency: 10, active: 1 };
  await api.deps.signal.presence.announce({
    tenant: "default",
    id: "w",
    ...facts,
    state: "running",
    lease_seconds: 30,
  });
  await call("listWorkers", 200);
  await call("listWorkers", 422, { query: { limit: "1" } });
  const other = await testApp({ signal: noSignal() });
  await checkedRequests(other.app).call("listWorkers", 503);
  await other.stop();
});

test("making and ending tokens is answered as documented", async () => {
  await call("createToken", 403, { body: { name: "tour", scopes: ["read"] } });
  const guarded = await guardedApp();
  const made_by = await guarded.token("admin");
  const headers = { authorization: `Bearer ${made_by.token}` };
  const checked = checkedRequests(guarded.app);
  const ask = (id: string, status: number, more: object = {}) => checked.call(id, status, { ...more, headers });
  await ask("listTokens", 200);
  await ask("listTokens", 422, { query: { limit: "1" } });
  const made = await ask("createToken", 201, { body: { name: "tour", scopes: ["read"], expires_in_seconds: 60 } });
  const params = { id: ((await made.json()) as { id: string }).id };
  await ask("createToken", 422, { body: { name: "", scopes: [] } });
  await ask("rotateToken", 201, { params, body: { overlap_seconds: 30 } });
  await ask("rotateToken", 409, { params, body: { overlap_seconds: 30 } });
  await ask("listTokens", 200);
  await ask("rotateToken", 404, { params: { id: nobody }, body: {} });
  await ask("revokeToken", 204, { params });
  await ask("revokeToken", 404, { params: { id: nobody } });
  await ask("revokeToken", 422, { params: bad_id });
  for (const [id, statuses] of checked.seen) seen.set(id, statuses);
  await guarded.stop();
});

test("OpenQueue's operations are answered as documented", () => tourOpenQueue(call));

test("provisioning is answered as documented", () => tourProvisioning(call));

test("an operator's acts are answered as documented", () => tourActs(call, submit));

test("the audit trail is answered as documented", () => tourAudit(call));

test("sessions are answered as documented", () => tourSession(call));

test("messages of MCP are answered as documented", () => tourMcp(call));

test("health and the document itself are answered as documented", () => tourItself(call));

test("figures and events are answered as documented", () => tourFigures(call));

// The last of this file: it checks what the others did.
test("the tour went everywhere, and saw every operation do its work", () => {
  expect([...seen.keys()].toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  const idle = [...seen].filter(([, statuses]) => [...statuses].every((status) => status >= 300));
  expect(idle).toEqual([]);
});
