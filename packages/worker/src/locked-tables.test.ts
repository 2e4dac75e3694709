import { connectDatabase, type Database } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { workerHarness } from "../test/harness.ts";
import { defineHandler, type Handler } from "./handler.ts";
import { startWorker, type Worker, type WorkerConfig } from "./start-worker.ts";

// Somebody reorganizes one of our tables (VACUUM FULL, CREATE INDEX), and it takes a while. What does not need that table
// goes on.

const any = z.looseObject({});
const harness = workerHarness();
let database: Database;
let workers: Worker[];
beforeEach(() => {
  database = connectDatabase({ url: harness.url(), connections_max: 5, timeout_ms: 1_000 });
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop({ deadline_ms: 0 })));
  await database.close();
  await harness.sql()`TRUNCATE job_attempts`;
});

/** With the few connections that a worker has by default. */
const work = (handlers: Handler[], config: Partial<WorkerConfig> = {}) => {
  const backoff = { base_seconds: 0, max_seconds: 0, jitter_seconds_max: 0 };
  workers.push(startWorker({ ...harness.deps(), database }, { handlers, backoff, ...config }));
};
async function whileLocked(table: string, check: () => Promise<void>): Promise<void> {
  await harness.sql().begin(async (stranger) => {
    await stranger.unsafe(`LOCK TABLE ${table}`);
    await check();
  });
}

test("failures that cannot be stored for a locked table of attempts hold up no successes", async () => {
  const fails = defineHandler("fails", any, () => {
    throw new Error("as always");
  });
  const logs = defineHandler("logs", any, (_payload, { log }) => log("a line"));
  work([fails, logs, defineHandler("noop", any, () => {})], { concurrency: 10 });
  await whileLocked("job_attempts", async () => {
    const held = await harness.add(
      ...Array.from({ length: 5 }, () => ({ type: "fails", max_attempts: 1 })),
      ...Array.from({ length: 5 }, () => ({ type: "logs" })),
    );
    await eventually(() => harness.named("database_unavailable").length > 0);
    for (let round = 0; round < 5; round += 1) {
      const ids = await harness.add({}, {}, {});
      await Promise.all(ids.map((id) => harness.becomes(id, { status: "succeeded" })));
    }
    await Promise.all(held.map((id) => harness.becomes(id, { status: "running", attempts: 1 })));
  });
  await eventually(async () =>
    expect(await harness.sql()`SELECT type, status, count(*)::int AS jobs FROM jobs GROUP BY 1, 2 ORDER BY 1`).toEqual([
      { type: "fails", status: "dead", jobs: 5 },
      { type: "logs", status: "succeeded", jobs: 5 },
      { type: "noop", status: "succeeded", jobs: 15 },
    ]),
  );
});
