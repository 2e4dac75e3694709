import { expect, test } from "vitest";
import { DatabaseTimeoutError, outcomeUnknown } from "../errors.ts";
import { createLanes, type Place } from "./lanes.ts";

const timeout_ms = 50;
/** A server that answers somebody all the time. */
const busy = { answered_at: Infinity };
const silent = { answered_at: -Infinity };
const fill = (enter: () => Place | undefined): Place[] => {
  const places: Place[] = [];
  for (let place = enter(); place; place = enter()) places.push(place);
  return places;
};

test.each([
  [10, 8],
  [5, 3],
  [4, 2],
  [3, 2],
  [2, 1],
  [1, 1],
])("of %i connections, statements of one kind take %i", (connections_max, lane_max) => {
  const lanes = createLanes(connections_max, busy);
  expect(fill(() => lanes.tryEnter("a"))).toHaveLength(lane_max);
  expect(fill(() => lanes.tryEnter("b"))).toHaveLength(lane_max);
});

test("who waits is let in, in order, as places are left", async () => {
  const lanes = createLanes(4, busy);
  const [first, second] = fill(() => lanes.tryEnter("a"));
  const order: number[] = [];
  const entering = [1, 2].map(async (nth) => {
    const place = await lanes.enter("a", 60_000);
    order.push(nth);
    return place;
  });
  expect(lanes.waiting()).toBe(2);
  first?.leave();
  (await entering[0])?.leave();
  await entering[1];
  expect(order).toEqual([1, 2]);
  expect(lanes.waiting()).toBe(0);
  // Nobody overtakes those that wait.
  const third = lanes.enter("a", 60_000);
  second?.leave();
  expect(lanes.tryEnter("a")).toBeUndefined();
  await third;
});

test("kinds that are held up share half, however many they are, until one of the kind is answered", async () => {
  const lanes = createLanes(10, busy);
  const kinds = ["a", "b", "c"];
  const first = kinds.map((kind) => lanes.tryEnter(kind));
  for (const place of first) place?.heldUp();
  expect(fill(() => lanes.tryEnter("a"))).toHaveLength(2);
  expect(lanes.tryEnter("b")).toBeUndefined();
  expect(fill(() => lanes.tryEnter("free"))).toHaveLength(8);
  const waiting = lanes.enter("b", 60_000);
  first[2]?.leave();
  const b = await waiting;
  b.answered();
  expect(fill(() => lanes.tryEnter("b"))).toHaveLength(6);
  expect(lanes.tryEnter("a")).toBeDefined();
});

test("those held up have turns: none of the kinds waits for good behind another", async () => {
  const lanes = createLanes(2, busy);
  const [a, b] = [lanes.tryEnter("a"), lanes.tryEnter("b")];
  a?.heldUp();
  b?.heldUp();
  const order: string[] = [];
  const rounds = ["a", "a", "b", "b"].map(async (kind) => {
    const place = await lanes.enter(kind, 60_000);
    order.push(kind);
    place.leave();
  });
  a?.leave();
  b?.leave();
  await Promise.all(rounds);
  expect(order.slice(0, 3)).toContain("a");
  expect(order.slice(0, 3)).toContain("b");
});

test.each([
  ["three deadlines while the server answers others", busy, 3],
  ["one deadline when it answers nobody", silent, 1],
])("it is waited for %s; then nothing was sent", async (_how_long, pulse, deadlines) => {
  const lanes = createLanes(1, pulse);
  const place = lanes.tryEnter("a");
  const began = performance.now();
  const error = await lanes.enter("a", timeout_ms).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DatabaseTimeoutError);
  expect(outcomeUnknown(error)).toBe(false);
  expect(performance.now() - began).toBeGreaterThanOrEqual(deadlines * timeout_ms - 1);
  expect(lanes.waiting()).toBe(0);
  place?.leave();
  expect(lanes.tryEnter("a")).toBeDefined();
});
