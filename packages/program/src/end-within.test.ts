import { expect, test, vi } from "vitest";
import { endWithin } from "./end-within.ts";

const never = new Promise<never>(() => {});

test("a part that ends in time is waited for, and nothing is said", async () => {
  const error = vi.fn();
  await endWithin({ error }, "a part", Promise.resolve(), 60_000);
  expect(error).not.toHaveBeenCalled();
});

test("a part that never ends is left to itself, and named", async () => {
  const error = vi.fn();
  await endWithin({ error }, "a part", never, 5);
  expect(error).toHaveBeenCalledExactlyOnceWith(
    { event: "shutdown_timeout", part: "a part", after_ms: 5 },
    "shutdown_timeout",
  );
});

test("a part that fails fails the stop", async () => {
  const error = vi.fn();
  await expect(endWithin({ error }, "a part", Promise.reject(new Error("no")), 60_000)).rejects.toThrow("no");
});
