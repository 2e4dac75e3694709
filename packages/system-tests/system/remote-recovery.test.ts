// @module-tag slow
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { lease } from "./remote-client.ts";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

test("with only remote workers, an API takes back lost leases, and lost signals are sent again", async () => {
  const api = await system.startApi();
  const leased = async (queue: string, lease_seconds: number, wait_seconds = 20) =>
    (await lease(api.url, { queue, lease_seconds, wait_seconds }))[0]?.job;
  const left = await api.create({ type: "remote", queue: "left" });
  // Its worker is never heard from again.
  expect(await leased("left", 1)).toMatchObject({ id: left, attempts: 1 });
  const later = await api.create({ type: "remote", queue: "later", delay_seconds: 3 });
  const lost = await api.create({ type: "remote", queue: "lost" });
  await system.redis.flushall();
  const found = await Promise.all([
    // A request waits for a third of its lease at most.
    leased("left", 60),
    leased("later", 30),
    eventually(async () => (await leased("lost", 30, 1)) ?? false, { timeout_ms: 15_000 }),
  ]);
  expect(found).toMatchObject([{ id: left, attempts: 2 }, { id: later }, { id: lost }]);
});
