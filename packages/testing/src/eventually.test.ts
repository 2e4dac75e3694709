import { expect, test } from "vitest";
import { eventually, inTime } from "./eventually.ts";

const soon = { timeout_ms: 60, interval_ms: 5 };

test("it returns what the probe returned once it neither throws nor returns false", async () => {
  const answers = [async () => false as const, () => expect.fail("not yet"), async () => 0];
  expect(await eventually(async () => (await answers.shift()?.()) ?? -1, soon)).toBe(0);
});

test("a first success needs no waiting", async () => {
  expect(await eventually(() => "here", { timeout_ms: 0 })).toBe("here");
});

test("the last error is thrown, with what was waited for and how long", async () => {
  let tries = 0;
  const failing = eventually(() => expect(++tries).toBe(-1), {
    ...soon,
    message: "the job succeeds",
  });
  await expect(failing).rejects.toThrow(/^the job succeeds: expected \d+ to be -1.* \(waited \d+ ms, \d+ tries\)$/);
  await expect(failing).rejects.toMatchObject({ expected: -1, actual: tries });
  await expect(failing).rejects.toThrow(` ms, ${tries} tries)`);
});

test("a probe that only ever returns false says so", async () => {
  await expect(eventually(() => false, soon)).rejects.toThrow(/^the probe returned false \(waited \d+ ms/);
});

test("a probe that hangs is given up", async () => {
  await expect(eventually(() => new Promise(() => {}), soon)).rejects.toThrow(/^the probe never answered/);
});

test("one try in time is enough, and code that is slow each time fails, showing what its tries took", async () => {
  const took = [30, 20, 9];
  await inTime(10, async () => took.shift() ?? 0);
  expect(took).toEqual([]);
  await expect(inTime(10, async () => 11)).rejects.toThrow("not once within 10 ms; the tries took 11, 11");
});

test("what a try asserts holds for every try", async () => {
  await expect(inTime(10, async () => expect.fail("another answer"))).rejects.toThrow("another answer");
});
