import { connectDatabase } from "@atlasqueue/core";
import { complete, recoverExpired } from "@atlasqueue/core/internal";
import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { any, gate, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, claim, deps, named, read, url, work } = workerHarness();

/** Hog the processor, and with it the event loop, as a handler may. */
function burn(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

/** The first claim is answered only then. */
function lateAnswer(then: Promise<void>) {
  let held = false;
  return steppingDatabase(deps().database, async (step, _number, text) => {
    if (step !== "answer" || held || !text.includes("INSERT INTO atlasqueue.claims")) return;
    held = true;
    await then;
  });
}

test("handlers that hog the processor past the deadline cost no other job an attempt", { tags: ["slow"] }, async () => {
  const database = connectDatabase({ url: url(), connectionsMax: 4, timeoutMs: 300 });
  onTestFinished(() => database.close());
  work([defineHandler("noop", any, () => burn(500))], { concurrency: 4 }, { database });
  const ids = await add(...Array.from({ length: 12 }, () => ({ max_attempts: 1 })));
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1 });
  expect(named("handler_start")).toHaveLength(12);
});

test("a job whose claim is answered after it was settled elsewhere is not started", async () => {
  const settled = gate();
  const database = lateAnswer(settled.opened);
  const started: string[] = [];
  const handler = defineHandler("noop", any, (_payload, { job }) => void started.push(job.id));
  work([handler], { concurrency: 1, leaseSeconds: 1 }, { database });
  const [id] = await add({});
  await becomes(id, { status: "running" });
  await eventually(async () => {
    await recoverExpired(deps(), 10);
    expect(await read(id)).toMatchObject({ status: "queued" });
  });
  const leases = await claim([id ?? ""]);
  await complete(
    deps(),
    leases.map((lease) => ({ lease, result: null })),
  );
  settled.open();
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ during: "start", job_id: id }]));
  expect(started).toEqual([]);
});

test("a job whose claim is answered late, and that no one else took, is renewed and started", async () => {
  const waited = gate();
  const database = lateAnswer(waited.opened);
  let until: Date | null | undefined;
  const handler = defineHandler("noop", any, async (_payload, { job }) => {
    until = (await read(job.id))?.locked_until;
  });
  work([handler], { concurrency: 1, leaseSeconds: 6 }, { database });
  const [id] = await add({});
  await becomes(id, { status: "running" });
  const before = (await read(id))?.locked_until?.getTime() ?? Infinity;
  // Half of the lease passes.
  const seen_at = performance.now();
  await eventually(() => performance.now() - seen_at > 3_000);
  waited.open();
  await becomes(id, { status: "succeeded", attempts: 1 });
  expect(until?.getTime()).toBeGreaterThan(before);
});
