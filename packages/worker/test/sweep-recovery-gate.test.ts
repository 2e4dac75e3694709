import { connectDatabase, memorySignal } from "@atlasqueue/core";
import { createFollowUps } from "@atlasqueue/core/internal";
import { createLeaseReleaser } from "@atlasqueue/core/internal/worker";
import { createDuties } from "../../core/src/maintenance/sweep/duties.ts";
import { brokenConnection, eventually, steppingDatabase, tcpProxy } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, gate, workerHarness } from "./harness.ts";
import { defineHandler } from "../src/handler.ts";
import { startWorker } from "../src/start-worker.ts";

const harness = workerHarness();

test("after an outage longer than a lease, workers renew before a sweep ends one", { tags: ["slow"] }, async () => {
  const proxy = await tcpProxy(harness.url());
  const { open, opened } = gate();
  const ids = await harness.add({ max_attempts: 1 }, { max_attempts: 1 });
  const fleet = [0, 1].map(() => {
    const database = connectDatabase({ url: proxy.url, connectionsMax: 6, timeoutMs: 1_000 });
    const deps = { ...harness.deps(), database, recovery_gate_ms: 1_500 };
    const handlers = [defineHandler("noop", any, () => opened)];
    return { database, worker: startWorker(deps, { handlers, concurrency: 1, leaseSeconds: 2 }) };
  });
  try {
    for (const id of ids) await harness.becomes(id, { status: "running" });
    proxy.refuse();
    await eventually(
      async () =>
        expect(
          await harness.sql()`SELECT FROM atlasqueue.jobs WHERE locked_until < now() - interval '2 seconds'`,
        ).toHaveLength(2),
      { timeout_ms: 20_000 },
    );
    proxy.heal();
    await eventually(
      async () => expect(await harness.sql()`SELECT FROM atlasqueue.jobs WHERE locked_until > now()`).toHaveLength(2),
      { timeout_ms: 10_000 },
    );
    open();
    for (const id of ids) await harness.becomes(id, { status: "succeeded", attempts: 1 });
    expect(harness.named("lease_expired")).toEqual([]);
  } finally {
    open();
    proxy.heal();
    for (const { worker, database } of fleet) {
      await worker.stop({ deadlineMs: 0 });
      await database.close();
    }
    await proxy.close();
  }
});

test.each([
  ["of a beat", "'beat'"],
  ["that ends leases", "claims WHERE check_at <= now()"],
  ["of a renewal", "renewed AS"],
])("the one connection %s, cut, keeps no process from ending leases", { tags: ["slow"] }, async (_what, part) => {
  let asked = 0;
  const database = steppingDatabase(harness.deps().database, (step, _number, text) => {
    if (step !== "statement" || !text.includes(part)) return;
    asked += 1;
    if (asked === 1) throw brokenConnection();
  });
  const [held] = await harness.add({});
  const handler = defineHandler("noop", any, () => new Promise(() => {}));
  harness.work([handler], { leaseSeconds: 3, concurrency: 1 }, { database, recovery_gate_ms: 500 });
  await harness.becomes(held, { status: "running" });
  const [left = ""] = await harness.add({});
  await harness.claim([left], { lease_seconds: 1 });
  await eventually(() => expect(asked).toBeGreaterThan(1), { timeout_ms: 20_000 });
  await harness.becomes(left, { status: "queued", attempts: 1 });
});

test("ending leases that fails closes the gate, and their holders go first; a lock that is held does not", async () => {
  const [id = ""] = await harness.add({ max_attempts: 1 });
  const deps = harness.deps();
  const followUps = createFollowUps(deps);
  const returns = createLeaseReleaser(deps);
  const running = new AbortController();
  let is_open = true;
  const theGate = { isOpen: () => is_open, close: () => void (is_open = false) };
  const duties = createDuties({ ...deps, signal: memorySignal(), followUps }, async () => {}, running.signal, theGate);
  const sweep = async () => (await duties.start({}, { asked: false })).recovered;
  const leases = await harness.claim([id]);
  await harness.endLeases();
  await refuseWrites("55P03");
  expect([await sweep(), is_open]).toEqual([0, true]);
  await acceptWrites();
  await refuseWrites("53100");
  const released = returns.release(leases);
  expect([await sweep(), is_open]).toEqual([0, false]);
  await acceptWrites();
  expect(await sweep()).toBe(0);
  expect(await released).toBe(1);
  await harness.becomes(id, { status: "queued", attempts: 0 });
  running.abort();
  await Promise.all([returns.close(1_000), followUps.stop()]);
});

/** Reads go on, and statements that change jobs or claims fail with this code. */
const refuseWrites = (code: string) =>
  harness.sql().unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION ''refused'' USING ERRCODE = ''${code}''; END';
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON atlasqueue.claims EXECUTE FUNCTION refuse();
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON atlasqueue.jobs EXECUTE FUNCTION refuse()`);
const acceptWrites = () => harness.sql().unsafe("DROP FUNCTION refuse CASCADE");
