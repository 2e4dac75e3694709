import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem } from "./system.ts";

const system = forFile(startSystem);

test("a queue that is never empty still runs its due retries", async () => {
  const api = await system.startApi({ LOG_LEVEL: "warn" });
  const retries = await Promise.all(
    Array.from({ length: 20 }, () =>
      api.create({ type: "demo.flaky", payload: { fail_times: 1 }, backoff: { kind: "fixed", base_seconds: 1 } }),
    ),
  );
  await inParallel(500, 20, () => api.create({ type: "noop" }));
  await system.startWorker({ WORKER_CONCURRENCY: "5", LOG_LEVEL: "warn" });
  // Fresh jobs keep coming until a retry has run: no pop ever times out, and the sweep has to bring the retries itself.
  const left = async () => {
    const [open] = await system.sql`
      SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE id = ANY(${retries}::uuid[]) AND status <> 'succeeded'`;
    return Number(open?.["n"]);
  };
  while ((await left()) > 0) await inParallel(200, 20, () => api.create({ type: "noop" }));
  const ran = await system.sql<
    { attempts: number }[]
  >`SELECT attempts FROM atlasqueue.jobs WHERE id = ANY(${retries}::uuid[])`;
  expect(ran.map(({ attempts }) => attempts)).toEqual(retries.map(() => 2));
});

test("jobs queued in a backlog start oldest first", { tags: ["slow"] }, async () => {
  const api = await system.startApi({ LOG_LEVEL: "warn" });
  const ids: string[] = [];
  for (let at = 0; at < 100; at += 1) ids.push(await api.create({ type: "noop" }));
  const worker = await system.startWorker({ WORKER_CONCURRENCY: "1" });
  await eventually(async () => {
    const [open] = await system.sql`SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE status <> 'succeeded'`;
    expect(open?.["n"]).toBe(0);
  });
  // Its last line may still be on its way to us. The previous test may have left older jobs.
  const started = () =>
    worker.logs.filter(({ event, job_id }) => event === "handler_start" && ids.includes(String(job_id)));
  await eventually(() => expect(started().map(({ job_id }) => job_id)).toEqual(ids));
});
