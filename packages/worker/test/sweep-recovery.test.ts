import { createFollowUps, type FollowUps } from "@atlasqueue/core/internal";
import { recoverAll } from "../../core/src/maintenance/sweep/recovery.ts";
import { eventually, ownSignal } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main, workerHarness } from "./harness.ts";

const harness = workerHarness();
let followUps: FollowUps;
beforeEach(() => {
  harness.useSignal(ownSignal);
  followUps = createFollowUps(harness.deps());
});
afterEach(() => followUps.stop());

test("when a job dies from a lost lease, those waiting for it are notified and the next of its group goes at once", async () => {
  const deps = { ...harness.deps(), followUps };
  const finished: string[] = [];
  deps.signal.notices.listen("finished", (ids) => void finished.push(...ids));
  const [first = "", next] = await harness.add({ group: "g", max_attempts: 1 }, { group: "g" });
  expect(await harness.claim([first])).toHaveLength(1);
  await deps.signal.take([main], 10);
  await harness.endLeases();
  expect(await recoverAll(deps)).toBe(1);
  expect(finished).toEqual([first]);
  expect(await deps.signal.deadLetters.page(0, 10)).toEqual([first]);
  await eventually(async () => expect((await deps.signal.take([main], 10)).ids).toEqual([next]));
});
