import { job, jobSteps, leaseAnswer, parkAnswer, problem, type AuditEntry } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { promoteAll } from "@atlasqueue/core/internal";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(() => testApp({ signal: memorySignal() }));

const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  api.send(method, `/v1${path}`, undefined, body, headers);
let made = 0;
const submit = async (queue: string, fields: object = {}): Promise<string> =>
  job.parse(await (await api.post(`steps-${(made += 1)}`, JSON.stringify({ type: "a", queue, ...fields }))).json()).id;
const lease = async (queue: string, fields: object = {}) => {
  const response = await send("POST", `/queues/${queue}/lease`, { worker_id: "curl", ...fields });
  const [held] = leaseAnswer.parse(await response.json()).jobs;
  if (!held) throw new Error("nothing was leased");
  return held;
};
const sendPark = (id: string, lease_token: string, signal: string, timeout_seconds = 3_600) =>
  send("POST", `/jobs/${id}/park`, { lease_token, signal, timeout_seconds });
const park = async (id: string, lease_token: string, signal = "approved", timeout_seconds = 3_600) => {
  const response = await sendPark(id, lease_token, signal, timeout_seconds);
  expect(response.status, await response.clone().text()).toBe(200);
  return parkAnswer.parse(await response.json());
};
const signal = async (id: string, name: string, body: object = {}, headers = {}) =>
  send("POST", `/jobs/${id}/signals/${encodeURIComponent(name)}`, body, headers);
const store = (id: string, name: string, lease_token: string, result?: unknown) =>
  send("PUT", `/jobs/${id}/steps/${encodeURIComponent(name)}`, { lease_token, result });
const typeOf = async (response: Response) => problem.parse(await response.json()).type;

test("a worker with nothing but HTTP does its steps once, waits for a signal, and finishes", async () => {
  const id = await submit("orders", { payload: { order: 17 } });
  const first = await lease("orders");
  expect(first).toMatchObject({ steps: {}, signals: {}, steps_complete: true });
  const stored = await store(id, "charge: card", first.lease_token, { charge_id: "ch_17" });
  expect(await stored.json()).toEqual({ result: { charge_id: "ch_17" } });
  const again = await store(id, "charge: card", first.lease_token, "another");
  expect(await again.json(), "the first counts").toEqual({ result: { charge_id: "ch_17" } });
  const parked = await park(id, first.lease_token);
  expect(parked).toMatchObject({ outcome: "parked" });
  expect(await park(id, first.lease_token), "the same again").toEqual(parked);
  const waiting = job.parse(await (await send("GET", `/jobs/${id}`)).json());
  expect(waiting).toMatchObject({ status: "scheduled", waits_for: "approved", attempts: 0, locked_until: null });
  expect(waiting.run_at).toBe("until" in parked && parked.until);
  expect(await typeOf(await store(id, "late", first.lease_token, 1))).toBe("/problems/lease-lost");

  expect(await (await signal(id, "approved", { payload: { by: "ada" } })).json()).toEqual({ outcome: "sent" });
  expect(await (await signal(id, "approved", { payload: { by: "bob" } })).json()).toEqual({ outcome: "sent_before" });
  // The signal woke the job, and the long poll with it.
  const second = await lease("orders", { wait_seconds: 5 });
  expect(second).toMatchObject({
    job: { id, attempts: 1, waits_for: null },
    steps: { "charge: card": { charge_id: "ch_17" } },
    signals: { approved: { by: "ada" } },
    steps_complete: true,
  });
  expect(await park(id, second.lease_token)).toEqual({ outcome: "signalled", payload: { by: "ada" } });
  const acked = await send("POST", `/jobs/${id}/ack`, { lease_token: second.lease_token });
  expect(job.parse(await acked.json())).toMatchObject({ status: "succeeded", attempts: 1 });
  const kept = jobSteps.parse(await (await send("GET", `/jobs/${id}/steps`)).json());
  expect(kept).toMatchObject({
    steps: [{ name: "charge: card", attempt: 1 }],
    signals: [{ name: "approved", payload: { by: "ada" } }],
    waits: [{ name: "approved" }],
  });
});

test("a wait whose time is over is told so, and a signal after it that it is too late", async () => {
  const id = await submit("late");
  await park(id, (await lease("late")).lease_token, "go", 1);
  await api.deps.database
    .sql`UPDATE atlasqueue.job_state SET until = now() - interval '1 ms' WHERE job_id = ${id} AND kind = 'wait'`;
  await api.deps.database.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE id = ${id}`;
  await promoteAll(api.deps);
  const again = await lease("late");
  expect(await park(id, again.lease_token, "go", 1)).toEqual({ outcome: "timed_out" });
  expect(await (await signal(id, "go")).json()).toEqual({ outcome: "too_late" });
  expect((await send("POST", `/jobs/${id}/ack`, { lease_token: again.lease_token })).status).toBe(200);
});

test("what is more than comes with a lease can be read on its own", async () => {
  const id = await submit("large");
  const { lease_token } = await lease("large");
  for (const name of ["a", "b"]) await store(id, name, lease_token, name.repeat(200_000));
  await park(id, lease_token);
  await signal(id, "approved");
  const again = await lease("large");
  expect(Object.keys(again.steps)).toEqual(["a"]);
  expect(again.steps_complete).toBe(false);
  const kept = jobSteps.parse(await (await send("GET", `/jobs/${id}/steps`)).json());
  expect(kept.steps.map(({ name, result }) => [name, String(result).length])).toEqual([
    ["a", 200_000],
    ["b", 200_000],
  ]);
});

test("names that mean something in a path, in JavaScript or on a page are names like any other", async () => {
  const id = await submit("names");
  const { lease_token } = await lease("names");
  const names = ["a/b", "...", "__proto__", "constructor", "%00", "a?b#c", "</script><b>", "ä 😀"];
  for (const name of names) expect((await store(id, name, lease_token, name)).status, name).toBe(200);
  for (const name of names) expect((await signal(id, name, { payload: name })).status, name).toBe(200);
  await park(id, lease_token);
  await signal(id, "approved");
  const again = await (await send("POST", "/queues/names/lease", { worker_id: "curl" })).text();
  for (const name of names) expect(again, name).toContain(`${JSON.stringify(name)}:${JSON.stringify(name)}`);
});

test("a signal is in the audit trail, and one that changed nothing is not; under a key it is sent once", async () => {
  const id = await submit("audited");
  const headers = { "idempotency-key": "approve-17" };
  for (const replayed of [null, "true"]) {
    const answer = await signal(id, "approved", { payload: 1 }, headers);
    expect(await answer.json()).toEqual({ outcome: "sent" });
    expect(answer.headers.get("idempotency-replayed")).toBe(replayed);
  }
  expect(await (await signal(id, "approved", { payload: 1 })).json()).toEqual({ outcome: "sent_before" });
  const { items } = (await (await api.get("/v1/audit")).json()) as { items: AuditEntry[] };
  expect(items.filter(({ target }) => target === id)).toMatchObject([
    { action: "job.signal", detail: { signal: "approved" }, finished: true },
  ]);
});

test("a final job takes no signal, and nobody's job is not found", async () => {
  const id = await submit("final");
  await send("POST", `/jobs/${id}/cancel`);
  const refused = await signal(id, "approved");
  expect([refused.status, await typeOf(refused)]).toEqual([409, "/problems/job-finished"]);
  expect((await signal("01890000-0000-7000-8000-000000000000", "approved")).status).toBe(404);
});

test("more steps, signals or waits than a job may have are 413", async () => {
  const id = await submit("full");
  const { lease_token } = await lease("full");
  const { sql } = api.deps.database;
  await sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt)
    SELECT 'default', ${id}, 'step', 's' || n, '1', now(), 1 FROM generate_series(1, 1000) AS n`;
  await sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at)
    SELECT 'default', ${id}, 'signal', 's' || n, '1', now() FROM generate_series(1, 1000) AS n`;
  expect((await store(id, "more", lease_token, 1)).status).toBe(413);
  expect((await signal(id, "more")).status).toBe(413);
  expect((await store(id, "s7", lease_token, 1)).status).toBe(200);
  await sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, at, until)
    SELECT 'default', ${id}, 'wait', 'w' || n, now(), now() + interval '1 hour' FROM generate_series(1, 1000) AS n`;
  const refused = await sendPark(id, lease_token, "more");
  expect(refused.status).toBe(413);
  expect(problem.parse(await refused.json()).detail).toContain("waited for 1000 signals");
  expect((await park(id, lease_token, "w7")).outcome).toBe("parked");
});
