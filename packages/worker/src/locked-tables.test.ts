// @module-tag slow
import { setTimeout as delay } from "node:timers/promises";
import { connectDatabase, memorySignal, type Database } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "../test/harness.ts";
import { defineHandler, type Handler } from "./handler.ts";
import { startWorker, type Worker, type WorkerConfig } from "./start-worker.ts";

// Somebody reorganizes one of our tables (VACUUM FULL, CREATE INDEX), and it takes a while. What does not need that table
// goes on.

const any = z.looseObject({});
const lease_seconds = 3;
const harness = workerHarness();
let database: Database;
let workers: Worker[];
beforeEach(() => {
  database = connectDatabase({ url: harness.url(), connectionsMax: 5, timeoutMs: 1_000 });
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 0 })));
  await database.close();
  await harness.sql()`TRUNCATE atlasqueue.job_state, atlasqueue.job_attempts`;
});

/** With the few connections that a worker has by default. */
const work = (handlers: Handler[], config: Partial<WorkerConfig> = {}) => {
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  workers.push(
    startWorker({ ...harness.deps(), database }, { handlers, backoff, leaseSeconds: lease_seconds, ...config }),
  );
};
/** It has nothing to do but to take back what others have lost. */
const sweep = () =>
  workers.push(startWorker({ ...harness.deps(), signal: memorySignal() }, { handlers: [], queues: ["none"] }));

async function whileLocked(table: string, check: () => Promise<void>): Promise<void> {
  await harness.sql().begin(async (stranger) => {
    await stranger.unsafe(`LOCK TABLE atlasqueue.${table}`);
    await check();
  });
}

test("handlers whose steps wait for a locked table, however many, leave the renewals a connection", async () => {
  const begin = gate();
  let started = 0;
  const handler = defineHandler("noop", any, async (_payload, { step }) => {
    started += 1;
    await begin.opened;
    // Each at a time of its own, as otherwise all of them give up at once.
    await delay(database.timeout_ms * Math.random());
    return step("charge", () => started);
  });
  sweep();
  work([handler], { concurrency: 60 });
  const ids = await harness.add(...Array.from({ length: 60 }, () => ({ max_attempts: 1 })));
  await eventually(() => started === ids.length);
  await whileLocked("job_state", async () => {
    begin.open();
    // Each of them renewed until after three more leases.
    const [{ then } = { then: new Date() }] = await harness.sql()<{ then: Date }[]>`
      SELECT now() + make_interval(secs => ${3 * lease_seconds}) AS then`;
    const ended = async () =>
      harness.sql()`SELECT status FROM atlasqueue.jobs WHERE status <> 'running' OR attempts > 1 OR locked_until > ${then}`;
    await eventually(async () => expect((await ended()).length).toBe(ids.length), { timeout_ms: 30_000 });
    expect(await harness.sql()`SELECT DISTINCT status, attempts FROM atlasqueue.jobs`).toEqual([
      { status: "running", attempts: 1 },
    ]);
  });
  await Promise.all(ids.map((id) => harness.becomes(id, { status: "succeeded", attempts: 1 })));
  expect(started).toBe(ids.length);
  expect(harness.named("lease_expired")).toEqual([]);
});
