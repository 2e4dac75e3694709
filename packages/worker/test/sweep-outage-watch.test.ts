import { connectDatabase, memorySignal } from "@atlasqueue/core";
import { createFollowUps, createOutageWatch, createSweeper } from "@atlasqueue/core/internal";
import { eventually, recordEvents, tcpProxy } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "./harness.ts";
import { defineHandler } from "../src/handler.ts";
import { startWorker } from "../src/start-worker.ts";

const harness = workerHarness();

test("a sweeper that met no outage itself leaves the leases of those that did until they can renew them", async () => {
  const proxy = await tcpProxy(harness.url());
  const database = connectDatabase({ url: proxy.url, connections_max: 4, timeout_ms: 2_000 });
  const { open, opened } = gate();
  const [id = ""] = await harness.add({});
  const held = startWorker(
    { ...harness.deps(), database },
    { handlers: [defineHandler("noop", z.looseObject({}), () => opened)], lease_seconds: 3 },
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
          await harness.sql()`SELECT FROM jobs WHERE id = ${id} AND status = 'running' AND locked_until > now()`,
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
    await Promise.all([running, held.stop({ deadline_ms: 0 })]);
    await followUps.stop();
    await database.close();
    await proxy.close();
  }
});

test("a process whose own renewals have just failed ends no leases, even while it can tell no one else", async () => {
  const signal = { ...memorySignal(), isMarked: async () => false };
  const outage = createOutageWatch({ ...harness.deps(), signal });
  expect(await outage.settledIn()).toBe(true);
  await outage.failed();
  expect(await outage.settledIn()).toBe(false);
});
