import { beforeEach, expect, test } from "vitest";
import { watchConsuming, type ConsumeWatch } from "./consume-watch.ts";

let now: number;
let handling: number;
let watch: ConsumeWatch;
beforeEach(() => {
  now = 0;
  handling = 0;
  watch = watchConsuming({ concurrency: 2, handling: () => handling }, 5, () => now);
});

test("a consumer whose loop turns is not stuck, one whose loop does not is", () => {
  now += 14_000;
  watch.turned();
  now += 14_000;
  expect(watch.stuckForMs()).toBe(0);
  now += 2_000;
  expect(watch.stuckForMs()).toBe(16_000);
  watch.turned();
  expect(watch.stuckForMs()).toBe(0);
});

test("while all slots run handlers there is nothing to take, however long", () => {
  handling = 2;
  now += 3_600_000;
  expect(watch.stuckForMs()).toBe(0);
  handling = 1;
  expect(watch.stuckForMs()).toBe(3_600_000);
});

test("claims that keep failing are noticed although the loop turns, until one is answered", () => {
  for (let at = 0; at < 12; at += 1) {
    watch.turned();
    watch.failed();
    now += 1_000;
  }
  expect(watch.stuckForMs()).toBe(12_000);
  watch.claimed();
  expect(watch.stuckForMs()).toBe(0);
});

test("claims that failed in an outage count no longer once a whole turn has gone by without another", () => {
  const idleFor = (seconds: number) => {
    for (let at = 0; at < seconds; at += 5) {
      now += 5_000;
      watch.turned();
    }
  };
  watch.failed();
  idleFor(15);
  expect(watch.stuckForMs()).toBe(0);
  watch.failed();
  idleFor(15);
  expect(watch.stuckForMs()).toBe(30_000);
  idleFor(5);
  expect(watch.stuckForMs()).toBe(0);
  // Another outage, long after: it counts from its own beginning.
  watch.failed();
  idleFor(15);
  watch.failed();
  expect(watch.stuckForMs()).toBe(15_000);
});
