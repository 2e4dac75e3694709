import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createTlsTurns } from "./tls-turns.ts";

/** Of the clock's time, that in which the process was not run. */
let stood_still_ms = 0;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  vi.spyOn(process, "cpuUsage").mockImplementation((since) => ({
    user: (performance.now() - stood_still_ms) * 1_000 - (since?.user ?? 0),
    system: 0,
  }));
  onTestFinished(() => void vi.restoreAllMocks());
  stood_still_ms = 0;
});

/** Work that takes time, and what was begun when: the clock goes on by that alone, and by what the test says. */
function world() {
  const turns = createTlsTurns();
  const begun: [name: string, at_ms: number][] = [];
  const start_ms = performance.now();
  const add = (name: string, takes_ms: number, [tenant = "", host = "host"] = name.split(" "), still_ms = 0) =>
    turns.take({ tenant, host }, () => {
      begun.push([name, performance.now() - start_ms]);
      vi.advanceTimersByTime(takes_ms);
      stood_still_ms += still_ms;
    });
  const names = () => begun.map(([name]) => name);
  return { add, begun, names };
}
/** Let everything be done that need not wait for the clock. */
const settle = async () => {
  for (let n = 0; n < 100; n += 1) await nextTurn();
};

test("other tenants' work waits for one costly piece at most, whose tenant then rests three times as long", async () => {
  const { add, begun } = world();
  for (let n = 0; n < 40; n += 1) add("evil", 105);
  add("a", 1);
  await settle();
  add("b", 1);
  await settle();
  expect(begun).toEqual([
    ["evil", 0],
    ["a", 105],
    ["b", 106],
  ]);
  vi.advanceTimersByTime(297);
  await settle();
  expect(begun).toHaveLength(3);
  vi.advanceTimersByTime(1);
  await settle();
  expect(begun.slice(3)).toEqual([["evil", 405]]);
});

test("costly work has a quarter of the time, however many tenants have some", async () => {
  const { add, begun } = world();
  for (let n = 0; n < 200; n += 1) for (const tenant of ["a", "b", "c", "d"]) add(tenant, 25);
  await settle();
  for (let ms = 0; ms < 20_000; ms += 5) {
    vi.advanceTimersByTime(5);
    for (let n = 0; n < 6; n += 1) await nextTurn();
  }
  const [, last_ms = 0] = begun.at(-1) ?? [];
  expect((begun.length * 20) / last_ms).toBeLessThan(0.27);
  expect((begun.length * 20) / last_ms).toBeGreaterThan(0.2);
});

test("a tenant does not rest because the process stood still within its work", async () => {
  const { add, begun } = world();
  add("a", 60_001, ["a"], 60_000);
  await settle();
  add("a", 1);
  await settle();
  expect(begun.map(([, at_ms]) => at_ms)).toEqual([0, 60_001]);
});

test("a tenant's receivers take turns, each with its oldest work first", async () => {
  const { add, names } = world();
  for (const name of ["a x", "a x", "a y", "b z", "a x"]) add(name, 1);
  await settle();
  expect(names()).toEqual(["a x", "b z", "a y", "a x", "a x"]);
});

test("work begins in a later turn of the loop, a few pieces in each", async () => {
  const { add, names } = world();
  for (let n = 0; n < 9; n += 1) add("a", 1);
  const done = [names().length];
  for (let n = 0; n < 3; n += 1) done.push(await nextTurn().then(() => names().length));
  expect(done).toEqual([0, 4, 8, 9]);
});

test("work that is dropped is never done, and in nobody's way", async () => {
  const { add, names } = world();
  const drops = Array.from({ length: 3 }, () => add("a", 105));
  drops[0]?.();
  await settle();
  drops[2]?.();
  vi.advanceTimersByTime(10_000);
  await settle();
  for (const drop of drops) drop();
  add("a", 1);
  add("b", 1);
  vi.advanceTimersByTime(10_000);
  await settle();
  expect(names()).toEqual(["a", "a", "b"]);
});
