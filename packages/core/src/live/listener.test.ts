import { jobStatuses } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { createListener } from "./listener.ts";
import type { LiveLook } from "./look.ts";

const counts = (succeeded: number) => ({
  ...Object.fromEntries(jobStatuses.map((status) => [status, 0])),
  succeeded,
});
const at = new Date();
const lookWith = (succeeded: number): LiveLook => ({
  at,
  totals: new Map([["quiet", JSON.stringify(counts(succeeded))]]),
  queues: new Map(),
  finished: new Map(),
});

test("a listener is told of what it follows, and not of the thousands of queues that others of its tenant follow", () => {
  let looks = 0;
  const textOf = (n: number) => JSON.stringify({ queue: `q${n}`, counts: counts(n) });
  const all = new Map(Array.from({ length: 10_000 }, (_, n) => [`q${n}`, textOf(n)]));
  const watched = new Proxy(all, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === "get") return (queue: string) => ((looks += 1), target.get(queue));
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const listener = createListener("quiet", new Set(["q17", "q4", "none"]), 100);
  const [told] = listener.newIn({ ...lookWith(1), queues: new Map([["quiet", watched]]) }, false);
  expect(JSON.parse(told?.data ?? "")).toMatchObject({
    queues: [17, 4].map((n) => ({ queue: `q${n}`, counts: { succeeded: n } })),
  });
  expect(looks).toBe(3);
});

test("who may have missed finished jobs among a busy tenant's is told so, if anything of their own changed", () => {
  const listener = createListener("quiet", undefined, 100);
  listener.newIn(lookWith(1), false);
  expect(listener.newIn(lookWith(1), true)).toEqual([]);
  expect(listener.newIn(lookWith(2), true)).toMatchObject([
    { event: "counts" },
    { event: "finished", data: expect.stringContaining('"items":[],"more":true') },
  ]);
  expect(listener.newIn(lookWith(3), false)).toMatchObject([{ event: "counts" }]);
});
