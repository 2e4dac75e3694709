import type { TcpProxy } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import type { Database } from "../database/connect.ts";
import { claimReady } from "../lease/claim.ts";
import { setLimits } from "./set.ts";

// A limited queue, and processes that are a long way from the database.

const { deps, url, addMany } = engineHarness();
let proxy: TcpProxy;
let far: Database;
const patient = { ...claimer, lease_seconds: 300 };
const connections_max = 10;

beforeEach(async () => {
  await setLimits(deps, { tenant: "default", queue: "default" }, limits);
  proxy = await openProxy(url());
  far = openDatabase({ url: proxy.url, connectionsMax: connections_max, timeoutMs: 20_000 });
});

const limits = { concurrency: 1_000, group_concurrency: null, rate: null, group_rate: null, fair_by: null };

test("a claim from far away holds the queue for no round trip: others claim", { tags: ["slow"] }, async () => {
  await addMany(200);
  await claimReady({ ...deps, database: far }, 1, patient);
  proxy.delay(400);
  let over = false;
  const claiming = claimReady({ ...deps, database: far }, 1, patient).finally(() => (over = true));
  const got: number[] = [];
  while (!over) {
    got.push((await claimReady(deps, 1, patient)).length);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await claiming).toHaveLength(1);
  // At most the one that met it in the moment it had the lock.
  expect(got.filter((count) => count === 0).length).toBeLessThanOrEqual(1);
  expect(got.length).toBeGreaterThan(5);
});

test("thirty claims at once from far away get their jobs, and do not wait for each other's way", async () => {
  await addMany(30);
  await Promise.all(Array.from({ length: connections_max }, () => far.sql`SELECT pg_sleep(0.1)`));
  const way_ms = 100;
  proxy.delay(way_ms);
  const began = performance.now();
  // On a busy machine one may give up waiting for the lock, and comes back, like a call of the long poll.
  const untilItHasOne = async (): Promise<void> => {
    while ((await claimReady({ ...deps, database: far }, 1, patient)).length === 0);
  };
  await Promise.all(Array.from({ length: 30 }, untilItHasOne));
  const trips = (performance.now() - began) / (2 * way_ms);
  // With three of them under the lock they were ninety, one claim after the other.
  expect(trips).toBeLessThan(60);
});
