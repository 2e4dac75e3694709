import { expect, test } from "vitest";
import { SignalUnavailableError } from "../../signal/signal.ts";
import { createScanWindow } from "./scan-window.ts";

const queue = { tenant: "default", queue: "mail" };

/** Looks whose times are told to them, and the reaches they were given. */
function looks() {
  let now = 1_000_000;
  const window = createScanWindow(() => now);
  const given: number[] = [];
  return {
    given,
    wait: (ms: number) => void (now += ms),
    look: (takes_ms: number, missing: number | Error = 0, of = queue) =>
      window.look(of, async (reach_ms) => {
        given.push(reach_ms);
        now += takes_ms;
        if (missing instanceof Error) throw missing;
        return missing;
      }),
  };
}

test("each look is whole while that takes less than a twentieth of the time in between", async () => {
  const { given, wait, look } = looks();
  for (let at = 0; at < 5; at += 1) {
    await look(40);
    wait(960);
  }
  expect(given).toEqual([Infinity, Infinity, Infinity, Infinity, Infinity]);
});

test("after a costly whole one that found nothing, looks go back to the one before, with three seconds to spare", async () => {
  const { given, wait, look } = looks();
  await look(500);
  wait(1_000);
  await look(10);
  wait(1_000);
  await look(10);
  wait(8_000);
  await look(500);
  expect(given).toEqual([Infinity, 4_500, 4_010, Infinity]);
});

test("what was missing may be a part: the next look goes as far, and a whole one is due at once", async () => {
  const { given, wait, look } = looks();
  await look(500, 10_000);
  await look(500);
  wait(1_000);
  await look(10, 1);
  wait(1_000);
  await look(10);
  expect(given).toEqual([Infinity, Infinity, 4_500, 5_510]);
});

test("a whole look that fails rests as well, and what has become ready since the first one is looked for meanwhile", async () => {
  const { given, wait, look } = looks();
  await expect(look(5_000, new Error("too late"))).rejects.toThrow("too late");
  await look(10);
  wait(99_990);
  await look(10);
  expect(given).toEqual([Infinity, 8_000, Infinity]);
});

test("a look that ends as Redis is away tells nothing of what is missing, nor of what a look costs: the next is whole", async () => {
  const { given, wait, look } = looks();
  for (let outage = 0; outage < 2; outage += 1) {
    await expect(look(1_000, new SignalUnavailableError("away"))).rejects.toThrow("away");
    wait(1_000);
  }
  await look(10, 50);
  await look(10);
  expect(given).toEqual([Infinity, Infinity, Infinity, Infinity]);
});

test("queues are apart", async () => {
  const { given, look } = looks();
  await look(500);
  await look(10, 0, { tenant: "other", queue: "mail" });
  await look(10);
  expect(given).toEqual([Infinity, Infinity, 3_510]);
});
