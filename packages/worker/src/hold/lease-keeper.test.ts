import { connectDatabase } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { any, gate, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";

const harness = workerHarness();
const application_name = "worker-that-is-cut-off";

/** A worker with a running job whose next renewal is twenty minutes away. */
async function workerWithAJob() {
  const database = connectDatabase({
    url: harness.url(),
    connectionsMax: 2,
    timeoutMs: 10_000,
    applicationName: application_name,
  });
  const { open, opened } = gate();
  const runs: AbortSignal[] = [];
  const handler = defineHandler("noop", any, async (_, { signal }) => {
    runs.push(signal);
    await opened;
  });
  harness.work([handler], { leaseSeconds: 3_600, pollTimeoutSeconds: 1 }, { database });
  onTestFinished(() => database.close());
  const [id = ""] = await harness.add({});
  await harness.becomes(id, { status: "running" });
  await eventually(() => expect(runs).toHaveLength(1));
  return { id, runs, finish: open };
}

/** What a crash does: forget what was not synced, and end all connections. */
async function crash(id: string, forgotten: "the last renewals" | "the claim"): Promise<void> {
  const ended = await harness.sql().begin(async (sql) => {
    if (forgotten === "the claim")
      await sql`UPDATE atlasqueue.jobs SET lease_token = gen_random_uuid(), worker_id = 'another' WHERE id = ${id}`;
    else {
      await sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 second' WHERE id = ${id}`;
      await sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 second'`;
    }
    return sql`SELECT pg_terminate_backend(pid, 10000) AS gone FROM pg_stat_activity WHERE application_name = ${application_name}`;
  });
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.every(({ gone }) => gone)).toBe(true);
}

test("when connections break, leases are renewed before this worker's sweep ends any", { tags: ["slow"] }, async () => {
  const { id, runs, finish } = await workerWithAJob();
  await crash(id, "the last renewals");
  await eventually(async () =>
    expect(
      await harness.sql()`SELECT FROM atlasqueue.jobs WHERE id = ${id} AND locked_until > now() + interval '50 minutes'`,
    ).toHaveLength(1),
  );
  // Its sweeps end leases again, but this one is held.
  const swept = harness.named("sweep_complete").length;
  await eventually(() => expect(harness.named("sweep_complete").length).toBeGreaterThan(swept + 3), {
    timeout_ms: 20_000,
  });
  expect(harness.named("lease_expired")).toEqual([]);
  finish();
  await harness.becomes(id, { status: "succeeded", attempts: 1 });
  expect(runs).toHaveLength(1);
});

test("a claim that a crash forgot is noticed at once: its handler is aborted, not left running beside another's", async () => {
  const { id, runs, finish } = await workerWithAJob();
  await crash(id, "the claim");
  await eventually(() => expect(runs[0]?.aborted).toBe(true));
  expect(harness.named("lease_lost")).toMatchObject([{ job_id: id, during: "renewal" }]);
  finish();
});
