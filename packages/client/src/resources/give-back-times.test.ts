import { expect, test } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { problemResponse } from "../../test/problems.ts";
import { swallowed } from "../../test/swallowed.ts";
import { createClient } from "../index.ts";

type Try = { at_ms: number; token: string; signal: AbortSignal | null | undefined };
type Met = (one: Try) => Promise<Response>;

const refused = () => Promise.reject<Response>(new TypeError("fetch failed"));
const unheard: Met = ({ signal }) => swallowed(signal);

/** A client that hears of no lease, and what becomes of its tries to give them back, by a clock that costs no time. */
function losing(met: Met) {
  const pass = fakeClock();
  const tries: Try[] = [];
  /** Of each queue's first lease. */
  const tokens = new Map<string, string>();
  const began_ms = performance.now();
  const client = createClient({
    url: "http://api",
    retries: 0,
    fetch(input, init) {
      const [, , , queue = ""] = new URL(String(input)).pathname.split("/");
      const { lease_token: token } = JSON.parse(String(init?.body)) as { lease_token: string };
      if (queue === "release") {
        const one = { at_ms: performance.now() - began_ms, token, signal: init?.signal };
        tries.push(one);
        return met(one);
      }
      if (tokens.has(queue)) return swallowed(init?.signal);
      tokens.set(queue, token);
      return refused();
    },
  });
  const timesOf = (queue: string) => tries.filter(({ token }) => token === tokens.get(queue)).map(({ at_ms }) => at_ms);
  return { client, tries, timesOf, pass };
}

test("an API that answers no try is asked again for two leases at a time", async () => {
  const { client, tries, pass } = losing(unheard);
  for (let at = 0; at < 10; at += 1)
    await expect(client.lease(`q${at}`, { workerId: "w", leaseSeconds: 9 })).rejects.toThrow("fetch failed");
  await pass(999);
  expect(tries).toHaveLength(10);
  await pass(2_000);
  expect(tries).toHaveLength(12);
  await pass(2_500);
  expect(tries).toHaveLength(14);
});

test("where the network swallows all tries, they come often until the lease has ended, and rarely for a minute after", async () => {
  const { client, timesOf, pass } = losing(unheard);
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 9 })).rejects.toThrow("fetch failed");
  const returned = client.leasesReturned();
  await pass(60_000 + 9_000 + 2_000);
  await returned;
  const times_ms = timesOf("q");
  const gaps_ms = times_ms.slice(1).map((at_ms, before) => at_ms - (times_ms[before] ?? 0));
  const in_time = times_ms.filter((at_ms) => at_ms < 9_000).length;
  expect(Math.max(...gaps_ms.slice(0, in_time - 1))).toBeLessThanOrEqual(1_500);
  expect(Math.min(...gaps_ms.slice(in_time))).toBeGreaterThanOrEqual(10_000);
  await pass(600_000);
  expect(timesOf("q")).toEqual(times_ms);
});

test("however long the lease, a swallowed try is followed by another after ten seconds", async () => {
  const { client, timesOf, pass } = losing(unheard);
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 3_600 })).rejects.toThrow("fetch failed");
  await pass(35_000);
  expect(timesOf("q")).toEqual([0, 10_000, 20_000, 30_000]);
});

test("after tries that were refused at once, a swallowed one is followed by another as soon as the first is", async () => {
  const { client, tries, timesOf, pass } = losing((one) => (tries.length < 8 ? refused() : unheard(one)));
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 9 })).rejects.toThrow("fetch failed");
  await pass(20_000);
  const [swallowed_at_ms = 0, next_at_ms = 0] = timesOf("q").slice(7);
  expect(next_at_ms - swallowed_at_ms).toBe(1_000);
});

test("whoever gives up waiting for what goes back leaves no try under way, nor soon another, that would keep the process", async () => {
  const { client, tries, pass } = losing(unheard);
  await expect(client.lease("q", { workerId: "w" })).rejects.toThrow("fetch failed");
  const stop = new AbortController();
  const waiting = client.leasesReturned({ signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(tries.map(({ signal }) => signal?.aborted)).toEqual([true]);
  await pass(4_900);
  expect(tries).toHaveLength(1);
  // Where the process goes on, so do the tries.
  await pass(200);
  expect(tries).toHaveLength(2);
});

test("whoever asks again and again whether all went back leaves the tries their time", async () => {
  const { client, pass } = losing(async ({ signal }) => {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 3_000)), swallowed(signal)]);
    return Response.json({ released: 1 });
  });
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 30 })).rejects.toThrow("fetch failed");
  let is_back = false;
  for (let asked = 0; asked < 12 && !is_back; asked += 1) {
    const stop = new AbortController();
    const waiting = client.leasesReturned({ signal: stop.signal }).then(
      () => (is_back = true),
      () => {},
    );
    await pass(1_000);
    stop.abort();
    await waiting;
  }
  expect(is_back).toBe(true);
});

test("after a swallowed try and refusals, what is lost goes back while its lease lasts", async () => {
  const { client, tries, timesOf, pass } = losing((one) => {
    if (tries.length === 1) return unheard(one);
    return one.at_ms < 13_000 ? refused() : Promise.resolve(Response.json({ released: 1 }));
  });
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 30 })).rejects.toThrow("fetch failed");
  await pass(60_000);
  expect(timesOf("q").at(-1)).toBeLessThan(20_000);
});

test("after an outage of the database, when leases end soon, a swallowed try is followed by another soon", async () => {
  let away = 0;
  const { client, timesOf, pass } = losing(async (one) =>
    (away += 1) > 20 ? unheard(one) : problemResponse("unavailable"),
  );
  await expect(client.lease("q", { workerId: "w", leaseSeconds: 9 })).rejects.toThrow("fetch failed");
  await pass(60_000);
  const [swallowed_at_ms = 0, next_at_ms = 0] = timesOf("q").slice(20);
  expect(swallowed_at_ms).toBeGreaterThan(9_000);
  expect(next_at_ms - swallowed_at_ms).toBe(1_000);
});

test("a worker that stops in an outage leaves what others of its client give back alone", async () => {
  const { client, timesOf, pass } = losing(unheard);
  const options = { leaseSeconds: 30, waitSeconds: 6, observe: () => {} };
  const [stopping, going_on] = ["stopping", "going-on"].map((queue) => client.work(queue, () => {}, options));
  await pass(1);
  const stopped = stopping?.stop({ deadlineMs: 0 });
  await pass(20_000);
  await stopped;
  const [first = 0, ...later] = timesOf("going-on");
  expect(later.map((at_ms) => at_ms - first).slice(0, 4)).toEqual([2_000, 4_000, 6_000, 8_000]);
  void going_on?.stop({ deadlineMs: 0 });
  await pass(120_000);
});
