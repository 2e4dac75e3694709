import { brokenConnection, eventually, forFile, steppingDatabase, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";
import { createGate } from "../http/gate.ts";
import { operations } from "../routes.ts";

const own = forFile(testDatabase);
/** Submissions are not answered, from when the gate is to be full until all tests are over. */
let full = false;
const over = Promise.withResolvers<void>();
let away = false;
const api = forFile(() => {
  const stepped = steppingDatabase(own.database, (_step, _number, text) => {
    if (full && text.includes("INSERT INTO atlasqueue.jobs")) return over.promise;
    if (away && text.includes("beaten")) throw brokenConnection();
  });
  return testApp({ gate: createGate({ requests_max: 4, kept: 2 }), database: { ...stepped, timeout_ms: 60_000 } });
});
afterAll(() => over.resolve());

const { submit, leaseOne } = leaseCalls(() => api);
const heartbeat = ["POST", "/v1/jobs/:id/heartbeat", { lease_token: ":token" }] as const;
const acts: [what: string, method: string, path: string, body: object][] = [
  ["a heartbeat", ...heartbeat],
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
];
const queueOf = (what: string) => what.replaceAll(/[^a-z]/g, "-");
const held = new Map<string, Awaited<ReturnType<typeof leaseOne>>>();

beforeAll(async () => {
  for (const what of [...acts.map(([act]) => act), "one more"]) {
    await submit(queueOf(what));
    held.set(what, await leaseOne(queueOf(what)));
  }
  full = true;
  let refused = 0;
  for (let at = 0; at < 10; at += 1)
    void api.post(`fill-${at}`, { type: "a" }).then(({ status }) => status === 429 && (refused += 1));
  await eventually(() => expect(refused).toBeGreaterThan(0));
});

const ask = (what: string, method: string, path: string, body: object) => {
  const { job, lease_token } = held.get(what) ?? expect.unreachable();
  const own_of = (text: string) => text.replaceAll(":id", job.id).replaceAll(":token", lease_token);
  return api.send(method, own_of(path), undefined, JSON.parse(own_of(JSON.stringify(body))) as object);
};

test.each(acts)("while submissions fill the gate, there is room for %s", async (...act) => {
  const answer = await ask(...act);
  expect(answer.status, await answer.text()).toBe(200);
});

test("while submissions fill the gate, a heartbeat gets 503 if PostgreSQL is down", async () => {
  away = true;
  const answer = await ask("one more", ...heartbeat);
  expect(await answer.json()).toMatchObject({ type: "/problems/unavailable" });
});

test("of all that workers ask for, only operations on a lease have that room", () => {
  const others = operations.filter(({ scope, gate }) => (scope === "work") !== (gate === "lease"));
  expect(others.map(({ id }) => id)).toEqual(["leaseJobs", "openQueueLease"]);
});
