import type { TcpProxy } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import type { Database } from "../database/connect.ts";
import { claimReady } from "../lease/claim.ts";

// A limited queue, and processes that are a long way from the database.

const { deps, limit, url, addMany } = engineHarness();
let proxy: TcpProxy;
let far: Database;
const patient = { ...claimer, lease_seconds: 300 };
const connections_max = 10;

beforeEach(async () => {
  await limit({ concurrency: 1_000 });
  proxy = await openProxy(url());
  far = openDatabase({ url: proxy.url, connectionsMax: connections_max, timeoutMs: 20_000 });
});

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
