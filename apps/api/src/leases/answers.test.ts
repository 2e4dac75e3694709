import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually, forFile, submission, submit } from "@atlasqueue/harness";
import { expect, test, vi } from "vitest";
import { serverOf, testApp } from "../../test/test-app.ts";

const api = forFile(() => testApp({ signal: memorySignal() }));
const server = serverOf(api);

const add = async (queue: string, count: number, bytes: number): Promise<string[]> => {
  const jobs = Array.from({ length: count }, () =>
    submission({ queue, max_attempts: 1, payload: { text: "x".repeat(bytes) } }),
  );
  const outcomes = await submit(api.deps, jobs, { idempotency_ttl_seconds: 60 });
  return outcomes.map((one) => ("job" in one ? one.job.id : ""));
};
const statuses = async (queue: string) => {
  const { sql } = api.deps.database;
  return sql<{ status: string; attempts: number; jobs: number }[]>`
    SELECT status, attempts, count(*)::int AS jobs FROM atlasqueue.jobs WHERE queue = ${queue} GROUP BY 1, 2 ORDER BY 1`;
};

test("of eight leases of 100 heavy jobs each, every job is handed over or queued", { tags: ["slow"] }, async () => {
  for (let part = 0; part < 20; part += 1) await add("heavy", 10, 250_000);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, at) => {
      const response = await fetch(`${server.url}/v1/queues/heavy/lease`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ worker_id: `w${at}`, max_jobs: 100 }),
      });
      expect(response.status).toBe(200);
      return leaseAnswer.parse(await response.json()).jobs;
    }),
  );
  const delivered = answers.flat().map(({ job }) => job.id);
  expect(new Set(delivered).size).toBe(delivered.length);
  for (const jobs of answers) expect(JSON.stringify(jobs).length).toBeLessThan(5_000_000);
  expect(await statuses("heavy")).toEqual([
    { status: "queued", attempts: 0, jobs: 200 - delivered.length },
    { status: "running", attempts: 1, jobs: delivered.length },
  ]);
});

test("jobs leased for a caller who hung up meanwhile go back, with no attempt spent", async () => {
  await add("cut", 16, 1_000);
  const leased = Promise.withResolvers<void>();
  const { lease } = api.deps.longPoll;
  vi.spyOn(api.deps.longPoll, "lease").mockImplementationOnce(async (...call) => {
    const handed = await lease(...call);
    leased.resolve();
    await eventually(() => call[1].aborted);
    return handed;
  });
  const gone = new AbortController();
  const asked = fetch(`${server.url}/v1/queues/cut/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ worker_id: "w", max_jobs: 100 }),
    signal: gone.signal,
  });
  await leased.promise;
  gone.abort();
  await expect(asked).rejects.toThrow();
  await eventually(async () => expect(await statuses("cut")).toEqual([{ status: "queued", attempts: 0, jobs: 16 }]));
});
