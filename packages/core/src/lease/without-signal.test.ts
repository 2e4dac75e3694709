import { type QueueLimitsInput } from "@atlasqueue/contract";
import { beforeEach, expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { claimReady } from "./claim.ts";
import type { Claimer } from "./lease.ts";

// Claims of one tenant's queues, of all kinds, while there is no signal to say which have jobs.

const { deps, addMany, limit } = engineHarness();
const kinds: Record<string, QueueLimitsInput> = {
  plain: {},
  limited: { concurrency: 1_000 },
};
const queues = Object.keys(kinds);
const claimer: Claimer = { tenant: "default", queues, worker_id: "w1", lease_seconds: 30 };

beforeEach(async () => {
  for (const [queue, limits] of Object.entries(kinds)) await limit(limits, queue);
});
const add = (queue: string, count: number) => addMany(count, { queue });
/** By queue, those claimed by so many claims of so many jobs each. */
const claimed = async (claims: number, jobs_max: number, by: Claimer = claimer): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (let claim = 0; claim < claims; claim += 1)
    for (const { queue } of await claimReady(deps, jobs_max, by)) counts[queue] = (counts[queue] ?? 0) + 1;
  return counts;
};

test.each([1, 10])("no kind of queue waits until another has run empty, %d jobs at a time", async (jobs_max) => {
  for (const queue of queues) await add(queue, 200);
  const counts = await claimed(Math.ceil(120 / jobs_max), jobs_max);
  // Each has half of the room.
  for (const queue of queues) expect(counts[queue], JSON.stringify(counts)).toBeGreaterThan(12);
});

test("what one kind of queue does not use of the room another does", async () => {
  await add("plain", 2);
  await add("limited", 50);
  expect(await claimed(1, 20)).toEqual({ plain: 2, limited: 18 });
  await add("plain", 20);
  expect(await claimed(1, 60)).toEqual({ plain: 20, limited: 32 });
});
