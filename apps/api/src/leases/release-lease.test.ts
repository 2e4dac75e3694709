import { randomUUID } from "node:crypto";
import { leaseAnswer, problem, settleAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(() => testApp({ signal: memorySignal() }));

const post = (path: string, body: object) => api.send("POST", path, undefined, body);
const submit = (job: { type: string; queue: string; group?: string; max_attempts?: number }) =>
  api.post(randomUUID(), job);
const lease = (queue: string, lease_token: string) =>
  post(`/v1/queues/${queue}/lease`, { worker_id: "w", lease_token });
const releaseUnder = async (lease_token: string): Promise<unknown> =>
  (await post("/v1/leases/release", { lease_token })).json();

test("the answer to a lease has the token that was sent, and all of it goes back by that token alone", async () => {
  const lease_token = randomUUID();
  await submit({ type: "a", queue: "back", max_attempts: 1 });
  const { jobs } = leaseAnswer.parse(await (await lease("back", lease_token.toUpperCase())).json());
  expect(jobs).toMatchObject([{ lease_token, job: { attempts: 1 } }]);
  expect(await releaseUnder(lease_token)).toEqual({ released: 1 });
  expect(await releaseUnder(lease_token)).toEqual({ released: 0 });
  const ack = await post(`/v1/jobs/${jobs[0]?.job.id}/ack`, { lease_token });
  expect(ack.status).toBe(409);
  const again = leaseAnswer.parse(await (await lease("back", randomUUID())).json());
  expect(again.jobs).toMatchObject([{ job: { id: jobs[0]?.job.id, attempts: 1 } }]);
});

test("a request repeated with its lease_token has the same jobs; another worker or queue is 409 lease-token-used", async () => {
  const lease_token = randomUUID();
  for (let n = 0; n < 2; n += 1) await submit({ type: "a", queue: "once" });
  const first = leaseAnswer.parse(await (await lease("once", lease_token)).json());
  expect(first).toMatchObject({ jobs: [{ lease_token }], remaining_ms: 30_000, repeated: false });
  const again = leaseAnswer.parse(await (await lease("once", lease_token)).json());
  expect(again).toMatchObject({ jobs: first.jobs, repeated: true });
  expect(again.waited_ms + again.remaining_ms).toBeLessThanOrEqual(30_000);
  for (const refused of [
    await lease("other", lease_token),
    await post("/v1/queues/once/lease", { worker_id: "other", lease_token }),
  ]) {
    expect(refused.status).toBe(409);
    expect(problem.parse(await refused.json())).toMatchObject({
      type: "/problems/lease-token-used",
      detail: expect.stringMatching("^lease_token was used (by another worker_id|for queue once) before") as string,
    });
  }
});

test("a token that was given back leases nothing", async () => {
  const lease_token = randomUUID();
  await releaseUnder(lease_token);
  await submit({ type: "a", queue: "given" });
  const none = leaseAnswer.parse(await (await lease("given", lease_token)).json());
  expect(none).toMatchObject({ jobs: [], remaining_ms: 0, repeated: true });
  expect(leaseAnswer.parse(await (await lease("given", randomUUID())).json()).jobs).toHaveLength(1);
});

test("a request waits for a third of its lease at most", async () => {
  const began_at = performance.now();
  await post("/v1/queues/short/lease", { worker_id: "w", lease_seconds: 1, wait_seconds: 30 });
  expect(performance.now() - began_at).toBeLessThan(5_000);
});

test("the next job of a group goes back by the token of the settlement", async () => {
  for (let n = 0; n < 2; n += 1) await submit({ type: "a", queue: "run", group: "g", max_attempts: 1 });
  const { jobs } = leaseAnswer.parse(await (await lease("run", randomUUID())).json());
  const [first] = jobs;
  const lease_token = randomUUID();
  const acks = [{ id: first?.job.id, lease_token: first?.lease_token }];
  const settled = await post("/v1/leases/settle", { acks, next: { worker_id: "w", lease_token } });
  expect(settleAnswer.parse(await settled.json()).next).toMatchObject([{ lease_token }]);
  expect(await releaseUnder(lease_token)).toEqual({ released: 1 });
});
