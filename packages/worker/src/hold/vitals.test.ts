import { expect, test } from "vitest";
import { createVitals } from "./vitals.ts";

test("the jobs of the last minute are counted, and those before it are not", () => {
  let now = 0;
  const vitals = createVitals(() => now);
  const read = () => vitals.read().jobs_per_minute;
  vitals.jobEnded();
  expect(read()).toBe(1);
  for (now = 2_000; now < 60_000; now += 2_000) expect(read()).toBe(1);
  vitals.jobEnded();
  now = 62_000;
  expect(read()).toBe(1);
  now = 200_000;
  expect(read()).toBe(0);
});

test("a worker says its version, its start and its memory", () => {
  const { version, started_at, memory_bytes } = createVitals().read();
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect(Math.abs(Date.now() - Date.parse(started_at))).toBeLessThan(60_000);
  expect(memory_bytes).toBeGreaterThan(1_000_000);
});
