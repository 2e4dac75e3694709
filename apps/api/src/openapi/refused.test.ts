import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { faultsOfAnswer, operationNamed } from "../../test/against-document.ts";
import { callsOf } from "../../test/checked-request.ts";
import { testApp } from "../../test/test-app.ts";
import { operations } from "../routes.ts";

const api = forFile(testApp);

const nobody = "00000000-0000-0000-0000-000000000000";
const ofOpenQueue: Record<string, object | undefined> = {
  openQueueListJobs: undefined,
  openQueueGetJobStatus: undefined,
  openQueueGetJob: undefined,
  openQueueListQueues: undefined,
  openQueueCancelJob: undefined,
  openQueueSubmit: { payload: {} },
  openQueueSubmitBatch: { jobs: [{ payload: {} }] },
  openQueueLease: { worker_id: "w" },
  openQueueAck: { lease_token: nobody },
  openQueueNack: { lease_token: nobody, error: "?" },
  openQueueHeartbeat: { lease_token: nobody },
};

test("asked too often, it answers as documented", async () => {
  const limited = await testApp({ rate_limit: { limit: 1, period_ms: 60_000 } });
  const call = callsOf(limited.app);
  await call("listQueues", 200);
  // Metrics take no permit.
  for (const { id } of operations.filter((one) => one.scope !== undefined && one.id !== "getMetrics"))
    await call(id, 429, { params: { id: nobody, queue: "default", name: "nightly" } });
  await limited.stop();
});

test("without its database it answers as documented", async () => {
  const away = new Proxy(api.deps.database, {
    get(database, name) {
      if (name === "sql") throw Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
      return Reflect.get(database, name) as unknown;
    },
  });
  const other = await testApp({ database: away });
  const lost = callsOf(other.app);
  for (const operation of ["getReadiness", "getReady", "listJobs", "listQueues"]) await lost(operation, 503);
  for (const operation of ["getJob", "explainJob", "listAttempts", "cancelJob", "retryJob"])
    await lost(operation, 503, { params: { id: nobody } });
  for (const operation of ["pauseQueue", "resumeQueue"]) await lost(operation, 503, { params: { queue: "default" } });
  await lost("limitQueue", 503, { params: { queue: "default" }, body: {} });
  const lease_token = nobody;
  await lost("submitJob", 503, { headers: { "Idempotency-Key": "lost" }, body: { type: "tour" } });
  await lost("submitJobs", 503, { body: { jobs: [{ type: "tour", idempotency_key: "lost" }] } });
  await lost("ackJob", 503, { params: { id: nobody }, body: { lease_token } });
  await lost("nackJob", 503, { params: { id: nobody }, body: { lease_token, error: "?" } });
  await lost("releaseJob", 503, { params: { id: nobody }, body: { lease_token } });
  await lost("heartbeat", 503, { params: { id: nobody }, body: { lease_token } });
  await lost("releaseLease", 503, { body: { lease_token } });
  await lost("settleLeases", 503, { body: { acks: [{ id: nobody, lease_token }] } });
  // Leasing asks the database only for what was signalled.
  await other.deps.signal.push([{ id: nobody, tenant: "default", queue: "default", priority: 0 }]);
  const params = { id: nobody, queue: "default" };
  for (const [operation, body] of Object.entries(ofOpenQueue))
    expect((await lost(operation, 503, { params, ...(body && { body }) })).headers.get("retry-after")).toBe("1");
  // Its secret is not set here: that does not pass by itself.
  const provision = { headers: { "x-admin-secret": "any" }, body: { email: "a@b.co" } };
  expect((await lost("openQueueProvision", 503, provision)).headers.get("retry-after")).toBeNull();
  await other.stop();
});

const withId = { "x-request-id": "1", "content-type": "application/json" };
const asProblem = { ...withId, "content-type": "application/problem+json" };
const told = { title: "", detail: "", instance: "1" };

test.each<[what: string, status: number, headers: Record<string, string>, body: object, fault: string]>([
  ["a status", 418, withId, {}, "not said to answer 418"],
  ["a value", 200, withId, { status: "ok", service: "other" }, "/service must be equal to constant"],
  ["a field", 200, withId, { status: "ok", service: "atlasqueue-api", more: 1 }, "additional properties"],
  ["a content type", 200, { ...withId, "content-type": "text/plain" }, {}, "text/plain is not said"],
  ["no request id", 200, { "content-type": "application/json" }, {}, "no request id"],
  ["a problem", 400, asProblem, { ...told, type: "/problems/not-json", status: 400 }, "not-json is not said"],
  ["another instance", 400, asProblem, { ...told, type: "/", status: 400, instance: "2" }, "not the request id"],
])("%s that is not documented would be noticed", async (_what, status, headers, body, fault) => {
  const response = new Response(JSON.stringify(body), { status, headers });
  expect((await faultsOfAnswer(operationNamed("getHealth"), response)).join()).toContain(fault);
});
