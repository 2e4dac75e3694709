import { brokenConnection, eventually, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp, type Changes } from "../../test/test-app.ts";
import { createGate } from "../http/gate.ts";
import { operations } from "../routes.ts";

let own: TestDatabase;
beforeEach(async () => void (own = await testDatabase()));
afterEach(() => own.drop());

/** An API with one leased job. Once it is told to fill its gate, submissions are not answered. */
async function holding(changes: Changes, onOther = (_text: string) => {}) {
  let stopped = false;
  const over = Promise.withResolvers<void>();
  const stepped = steppingDatabase(own.database, (_step, _number, text) => {
    if (stopped && text.includes("INSERT INTO atlasqueue.jobs")) return over.promise;
    if (stopped) onOther(text);
  });
  const api = await testApp({ ...changes, database: { ...stepped, timeout_ms: 60_000 } });
  onTestFinished(async () => {
    over.resolve();
    await api.stop();
  });
  const { submit, leaseOne } = leaseCalls(() => api);
  const id = await submit("q");
  const { lease_token } = await leaseOne("q");
  let refused = 0;
  return {
    api,
    id,
    lease_token,
    /** Submissions, until the gate takes no more of them. */
    async fill(count: number, body: object = {}) {
      stopped = true;
      for (let at = 0; at < count; at += 1)
        void api.post(`fill-${at}`, { type: "a", ...body }).then(({ status }) => status === 429 && (refused += 1));
      await eventually(() => expect(refused).toBeGreaterThan(0));
    },
  };
}

const few = () => createGate({ requests_max: 4, kept: 2 });

test("while submissions fill the gate, a heartbeat gets 503 if PostgreSQL is down", { tags: ["slow"] }, async () => {
  const { api, id, lease_token, fill } = await holding({}, (text) => {
    if (text.includes("beaten")) throw brokenConnection();
  });
  await fill(2_000);
  const answer = await api.send("POST", `/v1/jobs/${id}/heartbeat`, undefined, { lease_token });
  expect(await answer.json()).toMatchObject({ type: "/problems/unavailable" });
});

test.each<[what: string, method: string, path: string, body: object]>([
  ["a heartbeat", "POST", "/v1/jobs/:id/heartbeat", { lease_token: ":token" }],
  ["a step", "PUT", "/v1/jobs/:id/steps/a", { lease_token: ":token", result: 1 }],
  ["a wait for a signal", "POST", "/v1/jobs/:id/park", { lease_token: ":token", signal: "go", timeout_seconds: 60 }],
  ["an ack", "POST", "/v1/jobs/:id/ack", { lease_token: ":token" }],
  ["a nack", "POST", "/v1/jobs/:id/nack", { lease_token: ":token", error: "no" }],
  ["a release", "POST", "/v1/jobs/:id/release", { lease_token: ":token" }],
  ["a settlement", "POST", "/v1/leases/settle", { acks: [{ id: ":id", lease_token: ":token" }] }],
  ["the release of a lease", "POST", "/v1/leases/release", { lease_token: ":token" }],
  ["a heartbeat of OpenQueue's", "POST", "/jobs/:id/heartbeat", { lease_token: ":token" }],
  ["an ack of OpenQueue's", "POST", "/jobs/:id/ack", { lease_token: ":token" }],
  ["a nack of OpenQueue's", "POST", "/jobs/:id/nack", { lease_token: ":token", error: "no", retry: true }],
])("while submissions fill the gate, there is room for %s", async (_what, method, path, body) => {
  const { api, id, lease_token, fill } = await holding({ gate: few() });
  const own_of = (text: string) => text.replaceAll(":id", id).replaceAll(":token", lease_token);
  await fill(10);
  const sent = JSON.parse(own_of(JSON.stringify(body))) as object;
  const answer = await api.send(method, own_of(path), undefined, sent);
  expect(answer.status, await answer.text()).toBe(200);
});

test("of all that workers ask for, only operations on a lease have that room", () => {
  const others = operations.filter(({ scope, gate }) => (scope === "work") !== (gate === "lease"));
  expect(others.map(({ id }) => id)).toEqual(["leaseJobs", "openQueueLease"]);
});
