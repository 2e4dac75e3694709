// @module-tag nightly
import type { SubmitJobInput } from "@atlasqueue/contract";
import { connectDatabase } from "@atlasqueue/core";
import { forFile, tcpProxy, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "./test-app.ts";

// A line of 200 ms each way and a deadline of 3 s: as 100 ms each way with the API's usual deadline, but with more room
// for a machine that is busy. No connection is open at first: to open one takes 1.2 s.
const delay_ms = 200;
const timeout_ms = 3_000;

type Leased = { jobs: { job: { id: string }; lease_token: string }[] };

const own = forFile(testDatabase);
const proxy = forFile(() => tcpProxy(own.url));
const database = forFile(async () => connectDatabase({ url: proxy.url, connectionsMax: 10, timeoutMs: timeout_ms }));
const api = forFile(() => testApp({ database }));
beforeAll(() => void proxy.delay(delay_ms));
afterAll(() => void proxy.delay(0));

const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
const statuses = async (answers: Promise<Response>[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const batch = (jobs: (SubmitJobInput & { idempotency_key: string })[]) =>
  api.send("POST", "/v1/jobs/batch", undefined, { jobs });
const lease = (queue: string, max_jobs: number) =>
  api.send("POST", `/v1/queues/${queue}/lease`, undefined, { worker_id: "w", max_jobs });

test("over a long line unique jobs, batches, leases and settlements are slow, and none is told that the database is away", async () => {
  expect(
    await statuses(times(300, (at) => api.post(`unique-${at}`, { type: "a", unique: { key: `k-${at}` } }))),
  ).toEqual({ 201: 300 });
  expect(
    await statuses(
      times(4, (call) =>
        batch(
          times(100, (at) => ({
            type: "a",
            idempotency_key: `batch-${call}-${at}`,
            unique: { key: `batch-${call}-${at}` },
          })),
        ),
      ),
    ),
  ).toEqual({ 201: 4 });
  expect(
    await statuses([
      api.send("PUT", "/v1/queues/limited/limits", undefined, { concurrency: 5 }),
      ...times(4, (at) => api.post(`limited-${at}`, { type: "a", queue: "limited" })),
    ]),
  ).toEqual({ 200: 1, 201: 4 });
  expect(await statuses(times(2, () => lease("limited", 2)))).toEqual({ 200: 2 });

  const leased = await Promise.all(times(20, () => lease("default", 10)));
  expect(leased.map(({ status }) => status)).toEqual(times(20, () => 200));
  const held = (await Promise.all(leased.map(async (one) => (await one.json()) as Leased))).flatMap(({ jobs }) => jobs);
  expect(held.length).toBeGreaterThan(100);
  const [acks, beats, rest] = [held.slice(0, 15), held.slice(15, 30), held.slice(30)];
  const say = (what: string, { job, lease_token }: Leased["jobs"][0]) =>
    api.send("POST", `/v1/jobs/${job.id}/${what}`, undefined, { lease_token });
  expect(await statuses([...acks.map((one) => say("ack", one)), ...beats.map((one) => say("heartbeat", one))])).toEqual(
    {
      200: 30,
    },
  );
  const settled = { acks: rest.map(({ job, lease_token }) => ({ id: job.id, lease_token })), nacks: [] };
  expect(await statuses([api.send("POST", "/v1/leases/settle", undefined, settled)])).toEqual({ 200: 1 });
});
