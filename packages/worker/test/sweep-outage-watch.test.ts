import { randomUUID } from "node:crypto";
import { connectDatabase, memorySignal } from "@atlasqueue/core";
import {
  claim,
  createDuties,
  createFollowUps,
  createLeaseReturns,
  createOutageWatch,
  createSweeper,
  enqueue,
} from "@atlasqueue/core/internal";
import {
  brokenConnection,
  eventually,
  recordEvents,
  simulateClock,
  steppingDatabase,
  submission,
  tcpProxy,
  testDatabase,
} from "@atlasqueue/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "./harness.ts";
import { defineHandler } from "../src/handler.ts";
import { startWorker } from "../src/start-worker.ts";

const harness = workerHarness();

test(
  "a sweeper that met no outage itself leaves the leases of those that did until they can renew them",
  { tags: ["slow"] },
  async () => {
    const proxy = await tcpProxy(harness.url());
    const database = connectDatabase({ url: proxy.url, connectionsMax: 4, timeoutMs: 2_000 });
    const { open, opened } = gate();
    const [id = ""] = await harness.add({});
    const held = startWorker(
      { ...harness.deps(), database },
      { handlers: [defineHandler("noop", z.looseObject({}), () => opened)], leaseSeconds: 3 },
    );
    await harness.becomes(id, { status: "running" });
    const stop = new AbortController();
    const other = recordEvents();
    const deps = { ...harness.deps(), observe: other.observe };
    const followUps = createFollowUps(deps);
    const sweeping = createSweeper({ ...deps, followUps }, stop.signal, { queues: () => [], discover: async () => {} });
    const running = sweeping.run();
    try {
      proxy.refuse();
      await eventually(
        async () =>
          expect(
            await harness.sql()`SELECT FROM atlasqueue.jobs WHERE id = ${id} AND status = 'running' AND locked_until > now()`,
          ).toHaveLength(0),
        { timeout_ms: 10_000 },
      );
      // Turns taken by the other one, without any failure of its own.
      const seen = other.named("sweep_complete").length;
      await eventually(() => expect(other.named("sweep_complete").length).toBeGreaterThan(seen + 2), {
        timeout_ms: 20_000,
      });
      expect(other.named("lease_expired")).toEqual([]);
      proxy.heal();
      open();
      await harness.becomes(id, { status: "succeeded", attempts: 1 });
    } finally {
      stop.abort();
      proxy.heal();
      open();
      await Promise.all([running, held.stop({ deadlineMs: 0 })]);
      await followUps.stop();
      await database.close();
      await proxy.close();
    }
  },
);

test.each([
  ["of the sweep's look", "server_settled"],
  ["that ends leases", "claims WHERE check_at <= now()"],
  ["of a renewal", "renewed AS"],
])("the one connection %s, cut, keeps nobody from ending leases", async (_what, part) => {
  const { deps, signal } = harness;
  let asked = 0;
  const database = steppingDatabase(deps().database, (step, _number, text) => {
    if (step !== "statement" || !text.includes(part)) return;
    asked += 1;
    if (asked === 1) throw brokenConnection();
  });
  const { open, opened } = gate();
  const [held] = await harness.add({});
  const handlers = [defineHandler("noop", z.looseObject({}), () => opened)];
  const worker = startWorker({ ...deps(), database }, { handlers, leaseSeconds: 3, concurrency: 1 });
  try {
    await harness.becomes(held, { status: "running" });
    const [left = ""] = await harness.add({});
    await claim(deps(), [left], { tenant: "default", queues: ["default"], worker_id: "gone", lease_seconds: 1 });
    await eventually(() => expect(asked).toBeGreaterThan(1), { timeout_ms: 20_000 });
    expect(await signal().isMarked("outage")).toBe(false);
    await harness.becomes(left, { status: "queued", attempts: 1 });
  } finally {
    open();
    await worker.stop({ deadlineMs: 0 });
  }
});

test("a process whose own renewals have just failed ends no leases, even while it can tell no one else", async () => {
  const signal = { ...memorySignal(), isMarked: async () => false };
  const outage = createOutageWatch({ ...harness.deps(), signal });
  expect(await outage.settledIn()).toBe(true);
  await outage.failed();
  expect(await outage.settledIn()).toBe(false);
});

test("what a process waits for after an outage counts from the first answer, not from its next turn", async () => {
  const outage = createOutageWatch(harness.deps());
  outage.broke();
  await harness.read(randomUUID());
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 3_000);
  onTestFinished(() => clock.mockRestore());
  expect(await outage.settledIn()).toBe(true);
  outage.broke();
  expect(await outage.settledIn()).toBe(false);
});

test("after a full disk, whoever holds a lease that ran out has the first word", async () => {
  const [id = ""] = await harness.add({ max_attempts: 1 });
  const deps = harness.deps();
  const followUps = createFollowUps(deps);
  const returns = createLeaseReturns(deps);
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const leases = await claim(deps, [id], claimer);
  const running = new AbortController();
  const served = { queues: () => [], discover: async () => {} };
  const outage = createOutageWatch(deps);
  const duties = createDuties({ ...deps, followUps }, served, running.signal, outage);
  const sweep = async () =>
    (await duties.start({ server_settled: true }, { asked: false, settled_in: true })).recovered;
  const end = async () => {
    await harness.sql()`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running'`;
    await harness.sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  };
  await end();
  await refuseWrites("53100");
  const givenBack = returns.giveBack(leases);
  expect([await sweep(), await sweep()]).toEqual([0, 0]);
  await acceptWrites();
  // The first one that the server takes.
  expect(await sweep()).toBe(0);
  expect(await givenBack).toBe(1);
  await harness.becomes(id, { status: "queued", attempts: 0 });

  // Nobody has anything to say of these: one look later they are recovered.
  expect(await claim(deps, [id], claimer)).toHaveLength(1);
  await end();
  expect(await outage.settledIn()).toBe(false);
  expect(await sweep()).toBe(1);
  running.abort();
  await Promise.all([returns.close(1_000), followUps.stop()]);
});

test("after a full disk leases are put off once, however many sweepers have met it", async () => {
  const [id = ""] = await harness.add({});
  const deps = harness.deps();
  const followUps = createFollowUps(deps);
  const running = new AbortController();
  const served = { queues: () => [], discover: async () => {} };
  const fleet = Array.from({ length: 3 }, () =>
    createDuties({ ...deps, followUps }, served, running.signal, createOutageWatch(deps)),
  );
  const sweep = async (nth: number) =>
    (await fleet[nth]?.start({ server_settled: true }, { asked: false, settled_in: true }))?.recovered;
  const end = () => harness.sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  await claim(deps, [id], { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
  await harness.sql()`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running'`;
  await end();
  await refuseWrites("53100");
  expect([await sweep(0), await sweep(1), await sweep(2)]).toEqual([0, 0, 0]);
  await acceptWrites();
  expect(await sweep(0)).toBe(0);
  await end();
  expect(await sweep(1)).toBe(1);
  running.abort();
  await followUps.stop();
});

test("a lock that somebody holds is no outage: what it kept from being recovered is recovered after it", async () => {
  const [id = ""] = await harness.add({});
  const deps = harness.deps();
  const followUps = createFollowUps(deps);
  const outage = createOutageWatch(deps);
  const running = new AbortController();
  const served = { queues: () => [], discover: async () => {} };
  const duties = createDuties({ ...deps, followUps }, served, running.signal, outage);
  const sweep = async () =>
    (await duties.start({ server_settled: true }, { asked: false, settled_in: true })).recovered;
  await claim(deps, [id], { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
  await harness.sql()`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running'`;
  await harness.sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  await refuseWrites("55P03");
  expect(await sweep()).toBe(0);
  await acceptWrites();
  expect(await outage.settledIn()).toBe(true);
  expect(await sweep()).toBe(1);
  running.abort();
  await followUps.stop();
});

/** Reads go on, and what changes jobs or claims fails with this code. */
const refuseWrites = (code: string) =>
  harness.sql().unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION ''refused'' USING ERRCODE = ''${code}''; END';
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON atlasqueue.claims EXECUTE FUNCTION refuse();
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON atlasqueue.jobs EXECUTE FUNCTION refuse()`);
const acceptWrites = () => harness.sql().unsafe("DROP FUNCTION refuse CASCADE");

test(
  "when the database's clock is set forward, leases wait for their holders' renewals",
  { tags: ["slow"] },
  async () => {
    const own = await testDatabase();
    const clock = await simulateClock(own.url, new Date());
    const database = connectDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 5_000 });
    const recorded = recordEvents();
    const deps = { ...harness.deps(), database, signal: memorySignal(), observe: recorded.observe };
    const followUps = createFollowUps(deps);
    const stop = new AbortController();
    const served = { queues: () => [], discover: async () => {} };
    const running = createSweeper({ ...deps, followUps }, stop.signal, served).run();
    const swept = async () => {
      const before = recorded.named("sweep_complete").length;
      await eventually(() => expect(recorded.named("sweep_complete").length).toBeGreaterThan(before + 2));
    };
    try {
      const [outcome] = await enqueue(deps, [submission({ max_attempts: 1 })], { idempotency_ttl_seconds: 60 });
      const id = outcome && "job" in outcome ? outcome.job.id : "";
      await claim(deps, [id], { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
      await swept();
      await clock.set(new Date(Date.now() + 3_600_000));
      await swept();
      expect(recorded.named("lease_expired")).toEqual([]);
      expect(await database.sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} AND status = 'running'`).toHaveLength(1);
    } finally {
      stop.abort();
      await running;
      await followUps.stop();
      await Promise.all([database.close(), clock.stop()]);
      await own.drop();
    }
  },
);

test("leases are ended again when their holders have had the time to renew them", { tags: ["slow"] }, async () => {
  const outage = createOutageWatch({
    ...harness.deps(),
    signal: memorySignal(),
    database: { ...harness.deps().database, timeout_ms: 0 },
  });
  await outage.jumped(1);
  expect(await outage.settledIn()).toBe(false);
  await eventually(async () => expect(await outage.settledIn()).toBe(true));
});
