import { expect, test } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { problemResponse } from "../../test/problems.ts";
import { swallowed } from "../../test/swallowed.ts";
import { createClient } from "../index.ts";

type Answer = (signal: AbortSignal | null | undefined) => Promise<Response>;

const unheard: Answer = swallowed;
const away: Answer = async () => problemResponse("unavailable");
const none: Answer = async () => Response.json({ jobs: [] });

/** A worker with leases of 30 s that wait for no job, when its API is asked for some, and when to take some back. */
function working({ lease, release }: { lease: (nth: number) => Answer; release: Answer }) {
  const pass = fakeClock();
  const leases_ms: number[] = [];
  const began_ms = performance.now();
  const client = createClient({
    url: "http://api",
    fetch(input, init) {
      if (String(input).endsWith("/release")) return release(init?.signal);
      leases_ms.push(performance.now() - began_ms);
      return lease(leases_ms.length)(init?.signal);
    },
  });
  const worker = client.work("q", () => {}, { leaseSeconds: 30, waitSeconds: 0, observe: () => {} });
  const stop = async (): Promise<void> => {
    void worker.stop({ deadlineMs: 0 });
    await pass(120_000);
  };
  return { leases_ms, pass, stop };
}

test("a worker that heard no answer asks for no more before the API has answered what gives back what it leased", async () => {
  const { leases_ms, pass, stop } = working({
    lease: (nth) => (nth === 1 ? unheard : none),
    release: () => new Promise((resolve) => setTimeout(() => resolve(Response.json({ released: 1 })), 5_000)),
  });
  await pass(10_000 + 4_900);
  expect(leases_ms).toEqual([0]);
  await pass(1_000);
  expect(leases_ms.length).toBeGreaterThan(1);
  await stop();
});

test("a worker that cannot give back yet, as somebody has a job locked, asks for more once the API has said so", async () => {
  const { leases_ms, pass, stop } = working({ lease: (nth) => (nth === 1 ? unheard : none), release: away });
  await pass(10_000 + 2_000);
  expect(leases_ms.length).toBeGreaterThan(1);
  await stop();
});

test("what was waited for in vain is not waited for again", async () => {
  const { leases_ms, pass, stop } = working({ lease: (nth) => (nth === 1 ? unheard : away), release: unheard });
  await pass(10_000 + 31_000);
  const before = leases_ms.length;
  await pass(20_000);
  expect(leases_ms.length).toBeGreaterThan(before + 1);
  await stop();
});

test("a worker that the API answers nothing asks for more after a lease, or half a minute", async () => {
  const { leases_ms, pass, stop } = working({ lease: () => unheard, release: unheard });
  await pass(10_000 + 29_000);
  expect(leases_ms).toEqual([0]);
  await pass(2_000);
  expect(leases_ms).toHaveLength(2);
  await stop();
});

test("a worker that was refused asks again soon", async () => {
  const { leases_ms, pass, stop } = working({
    lease: () => () =>
      Promise.reject(
        Object.assign(new TypeError("fetch failed"), {
          cause: Object.assign(new Error("away"), { code: "ECONNREFUSED" }),
        }),
      ),
    release: unheard,
  });
  await pass(5_000);
  expect(leases_ms.length).toBeGreaterThan(3);
  await stop();
});
