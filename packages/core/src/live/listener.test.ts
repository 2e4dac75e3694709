import { jobStatuses } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { createListener } from "./listener.ts";
import type { Counts, LiveLook } from "./look.ts";

const counts = (succeeded: number) =>
  ({ ...Object.fromEntries(jobStatuses.map((status) => [status, 0])), succeeded }) as Counts;
const at = new Date();
const lookWith = (succeeded: number): LiveLook => ({
  at,
  totals: new Map([["quiet", counts(succeeded)]]),
  queues: [],
  finished: [],
});

test("who may have missed finished jobs among a busy tenant's is told so, if anything of their own changed", () => {
  const listener = createListener("quiet", undefined, 100);
  listener.newIn(lookWith(1), false);
  expect(listener.newIn(lookWith(1), true)).toEqual([]);
  expect(listener.newIn(lookWith(2), true)).toMatchObject([
    { event: "counts" },
    { event: "finished", data: { items: [], more: true } },
  ]);
  expect(listener.newIn(lookWith(3), false)).toMatchObject([{ event: "counts" }]);
});
