import { job, problem, settleAnswer } from "@atlasqueue/contract";
import { forFile, ownSignal } from "@atlasqueue/harness";
import { expect, test, afterAll } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";

const signal = ownSignal();
afterAll(() => signal.close());
const api = forFile(() => testApp({ signal, backoff: { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 } }));

const { post, submit, lease, leaseOne } = leaseCalls(() => api);
const typeOf = async (response: Response) => problem.parse(await response.json()).type;

test("a job is leased whole, once, and acknowledged with its result; the same ack again is the same answer", async () => {
  const id = await submit("whole", { payload: { to: "a" } });
  const held = await leaseOne("whole", { lease_seconds: 60 });
  expect(held.job).toMatchObject({ id, status: "running", attempts: 1, payload: { to: "a" }, worker_id: "remote-1" });
  expect(held.locked_until).toBe(held.job.locked_until);
  expect(Date.parse(held.locked_until) - Date.parse(held.job.started_at ?? "")).toBe(60_000);
  expect(await lease("whole")).toEqual([]);
  for (let time = 0; time < 2; time += 1) {
    const acked = await post(`/jobs/${id}/ack`, { lease_token: held.lease_token, result: { sent: 1 } });
    expect(acked.status).toBe(200);
    expect(job.parse(await acked.json())).toMatchObject({ status: "succeeded", result: { sent: 1 } });
  }
});

test("a nack is retried after its delay, or dead at once; the same nack again is the same answer", async () => {
  const id = await submit("nacks");
  const held = await leaseOne("nacks");
  const nack = { lease_token: held.lease_token, error: "SmtpError: no", delay_seconds: 60 };
  for (let time = 0; time < 2; time += 1) {
    const failed = await post(`/jobs/${id}/nack`, nack);
    expect(failed.status).toBe(200);
    const now = job.parse(await failed.json());
    expect(now).toMatchObject({ status: "failed", last_error: "SmtpError: no" });
    expect(Date.parse(now.run_at) - Date.parse(now.updated_at)).toBe(60_000);
  }
  const other = await submit("nacks");
  const { lease_token } = await leaseOne("nacks");
  const dead = await post(`/jobs/${other}/nack`, { lease_token, error: "no use", retry: false });
  expect(job.parse(await dead.json())).toMatchObject({ status: "dead", dead_reason: "not_retryable" });
  expect(await signal.deadLetters.page(0, 10)).toContain(other);
});

test("a job that is given back is ready at once in its old place, with no attempt spent", async () => {
  const id = await submit("gives", { max_attempts: 1 });
  await submit("gives");
  const { lease_token } = await leaseOne("gives");
  const given = await post(`/jobs/${id}/release`, { lease_token });
  expect(given.status).toBe(200);
  expect(job.parse(await given.json())).toMatchObject({ status: "queued", attempts: 0, last_error: null });
  const again = await post(`/jobs/${id}/release`, { lease_token });
  expect([again.status, await typeOf(again)]).toEqual([409, "/problems/lease-lost"]);
  expect((await leaseOne("gives")).job).toMatchObject({ id, attempts: 1 });
});

test("a job that cannot be given back, as its row is locked, does not keep the acks beside it from being stored", async () => {
  for (let at = 0; at < 2; at += 1) await submit("locked-release");
  const [done, kept] = (await lease("locked-release", { max_jobs: 2 })).map(({ job: { id }, lease_token }) => ({
    id,
    lease_token,
  }));
  if (!done || !kept) throw new Error("two were to be leased");
  const asked = await api.deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.jobs WHERE id = ${kept.id} FOR UPDATE`;
    return post("/leases/settle", { acks: [done], releases: [kept] });
  });
  expect(asked.status).toBe(503);
  expect(job.parse(await (await api.get(`/v1/jobs/${done.id}`)).json()).status).toBe("succeeded");
  const again = await post("/leases/settle", { acks: [done], releases: [kept] });
  expect(settleAnswer.parse(await again.json())).toMatchObject({
    acks: [{ outcome: "succeeded" }],
    releases: [{ outcome: "queued" }],
  });
});

test("a heartbeat keeps the lease for as long as it says, and shows progress", async () => {
  const id = await submit("beats");
  const { lease_token, locked_until } = await leaseOne("beats");
  const beat = await post(`/jobs/${id}/heartbeat`, { lease_token, lease_seconds: 600, progress: { done: 0.4 } });
  expect(beat.status).toBe(200);
  const until = ((await beat.json()) as { locked_until: string }).locked_until;
  expect(Date.parse(until) - Date.parse(locked_until)).toBeGreaterThan(500_000);
  expect((await post(`/jobs/${id}/heartbeat`, { lease_token })).status).toBe(200);
  const now = job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
  expect(now.progress).toEqual({ done: 0.4 });
  expect(now.locked_until && now.locked_until < until).toBe(true);
});

test("a lost lease is 409 everywhere; an unknown job is 404", async () => {
  const id = await submit("lost");
  const { lease_token } = await leaseOne("lost");
  const wrong = "01920000-0000-4000-8000-000000000000";
  const calls = (job_id: string, token: string) =>
    Promise.all([
      post(`/jobs/${job_id}/ack`, { lease_token: token }),
      post(`/jobs/${job_id}/nack`, { lease_token: token, error: "x" }),
      post(`/jobs/${job_id}/heartbeat`, { lease_token: token }),
      post(`/jobs/${job_id}/release`, { lease_token: token }),
    ]);
  for (const response of await calls(id, wrong))
    expect([response.status, await typeOf(response)]).toEqual([409, "/problems/lease-lost"]);
  for (const response of await calls(wrong, lease_token)) expect(response.status).toBe(404);
  for (const response of await calls(id, "not-a-token")) expect(response.status).toBe(422);
  await api.app.request(`http://localhost/v1/jobs/${id}/cancel`, { method: "POST" });
  for (const response of await calls(id, lease_token)) expect(response.status).toBe(409);
});

test("a heartbeat may shorten a lease, and the sweep will look in time", async () => {
  const id = await submit("shorter");
  const { lease_token } = await leaseOne("shorter", { lease_seconds: 3_600 });
  expect((await post(`/jobs/${id}/heartbeat`, { lease_token, lease_seconds: 5 })).status).toBe(200);
  const { sql } = api.deps.database;
  const [batch] = await sql<{ soon: boolean }[]>`
    SELECT check_at <= now() + interval '5 seconds' AS soon FROM atlasqueue.claims WHERE token = ${lease_token}`;
  expect(batch?.soon).toBe(true);
});
