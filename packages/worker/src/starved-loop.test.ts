import { connectDatabase } from "@atlasqueue/core";
import { complete, recoverExpired } from "@atlasqueue/core/internal";
import { claim } from "@atlasqueue/core/internal/worker";
import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";
import { startWorker } from "./start-worker.ts";

const any = z.looseObject({});
const { add, becomes, deps, named, read, sql } = workerHarness();

/** Hog the processor, and with it the event loop, as a handler may. */
function burn(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

const url = () => {
  const { host, port, user, pass, database } = sql().options;
  return `postgres://${user}:${String(pass ?? "")}@${String(host)}:${String(port)}/${database}`;
};

test("handlers that hog the processor past the deadline cost no other job an attempt", { tags: ["slow"] }, async () => {
  const database = connectDatabase({ url: url(), connectionsMax: 4, timeoutMs: 300 });
  const worker = startWorker(
    { ...deps(), database },
    { handlers: [defineHandler("noop", any, () => burn(500))], concurrency: 4, leaseSeconds: 30 },
  );
  const ids = await add(...Array.from({ length: 12 }, () => ({ max_attempts: 1 })));
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1 });
  expect(named("handler_start")).toHaveLength(12);
  await worker.stop({ deadlineMs: 10_000 });
  await database.close();
});

test("a job whose claim is answered after it was settled elsewhere is not started", async () => {
  const settled = gate();
  let held = false;
  const database = steppingDatabase(deps().database, async (step, _number, text) => {
    if (step !== "answer" || held || !text.includes("INSERT INTO atlasqueue.claims")) return;
    held = true;
    await settled.opened;
  });
  const started: string[] = [];
  const worker = startWorker(
    { ...deps(), database },
    {
      handlers: [defineHandler("noop", any, (_payload, { job }) => void started.push(job.id))],
      concurrency: 1,
      leaseSeconds: 1,
    },
  );
  const [id] = await add({});
  await becomes(id, { status: "running" });
  await eventually(async () => {
    await recoverExpired(deps(), 10);
    expect(await read(id)).toMatchObject({ status: "queued" });
  });
  const elsewhere = { tenant: "default", queues: ["default"], worker_id: "elsewhere", lease_seconds: 30 };
  const leases = await claim(deps(), [id ?? ""], elsewhere);
  await complete(
    deps(),
    leases.map((lease) => ({ lease, result: null })),
  );
  settled.open();
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ during: "start", job_id: id }]));
  expect(started).toEqual([]);
  await worker.stop({ deadlineMs: 0 });
});

test("a job whose claim is answered late, and that no one else took, is renewed and started", async () => {
  const waited = gate();
  let held = false;
  const database = steppingDatabase(deps().database, async (step, _number, text) => {
    if (step !== "answer" || held || !text.includes("INSERT INTO atlasqueue.claims")) return;
    held = true;
    await waited.opened;
  });
  let until: Date | null | undefined;
  const handler = defineHandler("noop", any, async (_payload, { job }) => {
    until = (await read(job.id))?.locked_until;
  });
  const worker = startWorker({ ...deps(), database }, { handlers: [handler], concurrency: 1, leaseSeconds: 6 });
  const [id] = await add({});
  await becomes(id, { status: "running" });
  const before = (await read(id))?.locked_until?.getTime() ?? Infinity;
  // Half of the lease passes.
  const seen_at = performance.now();
  await eventually(() => performance.now() - seen_at > 3_000);
  waited.open();
  await becomes(id, { status: "succeeded", attempts: 1 });
  expect(until?.getTime()).toBeGreaterThan(before);
  await worker.stop({ deadlineMs: 0 });
});
