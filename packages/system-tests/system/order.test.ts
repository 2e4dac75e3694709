import { expect, test } from "vitest";
import { forFile } from "@atlasqueue/harness";
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
