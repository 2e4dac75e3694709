import { forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { clientOf, testApi } from "../test-api.ts";
import { createClient } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

/** A client whose answers come late: so much time passes once the API has sent them. */
function lateBy(ms: number, { fails = 0 } = {}) {
  let gone_by_ms = 0;
  let left = fails;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + gone_by_ms);
  onTestFinished(() => clock.mockRestore());
  return createClient({
    url: api.url,
    async fetch(input, init) {
      if ((left -= 1) >= 0) {
        gone_by_ms += ms;
        throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
      }
      const response = await fetch(input, init);
      gone_by_ms += ms;
      return response;
    },
  });
}

test("a lease's end is reckoned from when it was asked for, however late the answer", async () => {
  await client.submit({ type: "a", queue: "late" });
  const late = lateBy(25_000);
  const began_at = performance.now();
  const [held] = await late.lease("late", { workerId: "w", leaseSeconds: 60 });
  expect(held?.ends_at_ms).toBeGreaterThanOrEqual(began_at + 60_000);
  expect(held?.ends_at_ms).toBeLessThanOrEqual(performance.now() - 25_000 + 60_000);
});

test("and from the try that was answered, as those before it leased nothing", async () => {
  await client.submit({ type: "a", queue: "tries" });
  const late = lateBy(5_000, { fails: 1 });
  const began_at = performance.now();
  const [held] = await late.lease("tries", { workerId: "w" });
  expect(held?.ends_at_ms).toBeGreaterThanOrEqual(began_at + 5_000 + 30_000);
  expect(held?.ends_at_ms).toBeLessThanOrEqual(performance.now() - 5_000 + 30_000);
});

test("the end of what a settlement leases is reckoned from when that was asked for", async () => {
  await client.submitMany(Array.from({ length: 2 }, () => ({ type: "a", queue: "next", group: "g" })));
  const [held] = await client.lease("next", { workerId: "w" });
  const acks = [{ id: held?.job.id ?? "", lease_token: held?.lease_token ?? "" }];
  const late = lateBy(25_000);
  const began_at = performance.now();
  const { next = [] } = await late.settle({ acks, next: { worker_id: "w", lease_seconds: 60 } });
  expect(next).toHaveLength(1);
  expect(next[0]?.ends_at_ms).toBeGreaterThanOrEqual(began_at + 60_000);
  expect(next[0]?.ends_at_ms).toBeLessThanOrEqual(performance.now() - 25_000 + 60_000);
});
