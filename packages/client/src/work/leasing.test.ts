import { expect, test } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { problemResponse } from "../../test/problems.ts";
import { swallowed } from "../../test/swallowed.ts";
import { createClient } from "../index.ts";

type Answer = (signal: AbortSignal | null | undefined) => Promise<Response>;
type Asked = { at_ms: number; max_jobs: number; lease_token: string };

const unheard: Answer = swallowed;
const none: Answer = async () => Response.json({ jobs: [], waited_ms: 0, remaining_ms: 0, repeated: false });
const refused: Answer = () =>
  Promise.reject(
    Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("away"), { code: "ECONNREFUSED" }) }),
  );

const jobs = (count: number): Answer => {
  const one = (at: number) => ({ id: `j${at}`, queue: "q", type: "a", payload: {}, attempts: 1, group: null });
  const leased = Array.from({ length: count }, (_, at) => ({ job: one(at), lease_token: "t", steps: {} }));
  return async () => Response.json({ jobs: leased, waited_ms: 0, remaining_ms: 15_000, repeated: false });
};

/** A worker with leases of 15 s that wait for no job: how its API was asked for some, and what was released. */
function working(lease: (nth: number) => Answer, handle: () => unknown = () => {}) {
  const pass = fakeClock();
  const asked: Asked[] = [];
  const released: string[] = [];
  const began_ms = performance.now();
  const client = createClient({
    url: "http://api",
    fetch(input, init) {
      const body = JSON.parse(String(init?.body)) as Asked;
      if (String(input).endsWith("/release")) {
        released.push(body.lease_token);
        return Promise.resolve(Response.json({ released: 0 }));
      }
      if (String(input).endsWith("/heartbeat")) return Promise.resolve(Response.json({}));
      asked.push({ ...body, at_ms: performance.now() - began_ms });
      return lease(asked.length)(init?.signal);
    },
  });
  const worker = client.work("q", handle, {
    leaseSeconds: 15,
    waitSeconds: 0,
    concurrency: 8,
    observe: () => {},
  });
  const stop = async (): Promise<void> => {
    void worker.stop({ deadlineMs: 0 });
    await pass(10_000);
  };
  const tokens = () => new Set(asked.map(({ lease_token }) => lease_token)).size;
  return { asked, released, tokens, pass, stop };
}

test("a request without an answer is given up after a third of the lease, and repeated with its token", async () => {
  const { asked, released, tokens, pass, stop } = working((nth) => (nth < 3 ? unheard : none));
  await pass(4_900);
  expect(asked).toHaveLength(1);
  await pass(7_000);
  expect([asked.length >= 3, tokens() >= 2]).toEqual([true, true]);
  expect(new Set(asked.slice(0, 3).map(({ lease_token }) => lease_token)).size).toBe(1);
  await stop();
  // The first one may still be on its way when the last one has no jobs.
  expect(released).toEqual([asked[0]?.lease_token]);
});

test("a repeated request that has the jobs releases nothing", async () => {
  const { asked, released, pass, stop } = working((nth) => (nth === 1 ? unheard : nth === 2 ? jobs(1) : none));
  await pass(6_000);
  expect(asked.length).toBeGreaterThan(2);
  await stop();
  expect(released).toEqual([]);
});

test("a token that something else has used is made anew", async () => {
  const { tokens, pass, stop } = working((nth) => (nth === 1 ? async () => problemResponse("lease_token_used") : none));
  await pass(1_000);
  expect(tokens()).toBeGreaterThan(1);
  await stop();
});

test("without a slot left after a timeout, the jobs of the request go back at once", async () => {
  const { asked, released, pass, stop } = working(
    (nth) => (nth === 1 ? jobs(5) : unheard),
    () => new Promise(() => {}),
  );
  await pass(6_000);
  expect(asked.map(({ max_jobs }) => max_jobs)).toEqual([8, 3]);
  expect(released).toEqual([asked[1]?.lease_token]);
  await stop();
});

test("a worker that stops releases a request that was not answered, once", async () => {
  const { asked, released, pass, stop } = working(() => unheard);
  await pass(1_000);
  await stop();
  expect(released).toEqual([asked[0]?.lease_token]);
});

test("a worker that was refused asks again soon, under the same token", async () => {
  const { asked, tokens, pass, stop } = working(() => refused);
  await pass(5_000);
  expect(asked.length).toBeGreaterThan(3);
  expect(tokens()).toBe(1);
  await stop();
});
