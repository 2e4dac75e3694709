import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { swallowed } from "../../../client/test/swallowed.ts";
import { testApi, type TestApi } from "../test-api.ts";
import { createClient, type Client } from "@atlasqueue/client";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

const submit = async (queue: string) => (await client.submit({ type: "a", queue, max_attempts: 1 })).id;
const isLease = (url: unknown) => String(url).endsWith("/lease");
const isRelease = (url: unknown) => String(url).endsWith("/v1/leases/release");
const untouched = { status: "queued", attempts: 0 };

/** A client that never hears what its first lease took, and whose releases meet these answers first. */
function losing(answers: ((init: RequestInit | undefined) => Promise<Response>)[], lost = reset) {
  let isLost = false;
  const met = { releases: 0 };
  const own = createClient({
    url: api.url,
    retries: 0,
    async fetch(input, init) {
      if (isRelease(input)) return (answers[met.releases++] ?? (() => fetch(input, init)))(init);
      if (!isLease(input) || isLost) return fetch(input, init);
      isLost = true;
      await (await fetch(input, init)).arrayBuffer();
      return lost();
    },
  });
  return { own, met };
}
const reset = (): Response => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
};
const unheard = (init: RequestInit | undefined) => swallowed(init?.signal);
const page = (status: number) => async () => new Response(`${status} page\n`, { status });
const problem = (status: number, type: string) => async () =>
  Response.json({ type: `/problems/${type}`, title: "no", status, detail: "no", instance: "x" }, { status });

test("a try whose answer the network swallows leaves time for others before the lease ends", async () => {
  const id = await submit("swallowed");
  const { own, met } = losing([unheard, unheard]);
  await expect(own.lease("swallowed", { workerId: "w", leaseSeconds: 9 })).rejects.toThrow();
  await own.leasesReturned();
  expect(met.releases).toBe(3);
  expect(await client.get(id)).toMatchObject(untouched);
}, 60_000);

test("a try whose answer is merely slow counts, though another was sent beside it", async () => {
  const id = await submit("slow");
  const isSent = Promise.withResolvers<void>();
  const { own, met } = losing([
    async (init) => {
      await Promise.race([isSent.promise, swallowed(init?.signal)]);
      return fetch(`${api.url}/v1/leases/release`, init);
    },
    (init) => {
      isSent.resolve();
      return swallowed(init?.signal);
    },
  ]);
  await expect(own.lease("slow", { workerId: "w", leaseSeconds: 9 })).rejects.toThrow();
  await own.leasesReturned();
  expect(met.releases).toBe(2);
  expect(await client.get(id)).toMatchObject(untouched);
}, 60_000);

test(
  "the tries go on past the end of the lease, for as long as the API says that its database is away",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
    await submit("outage");
    const now = performance.now.bind(performance);
    let later_ms = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later_ms);
    const away = () => {
      later_ms += 50_000;
      return problem(503, "unavailable")();
    };
    const { own, met } = losing(Array.from({ length: 8 }, () => away));
    await expect(own.lease("outage", { workerId: "w", leaseSeconds: 1 })).rejects.toThrow();
    await own.leasesReturned();
    expect(met.releases).toBe(9);
  },
);

test("a call that is aborted leaves nothing leased, whatever error the caller gives as the reason", async () => {
  const id = await submit("reason");
  const stop = new AbortController();
  const reason = await client.get("01900000-0000-7000-8000-000000000000").catch((error: unknown) => error);
  const own = createClient({
    url: api.url,
    async fetch(input, init) {
      const answer = await fetch(input, { ...init, signal: null });
      if (isLease(input)) stop.abort(reason);
      return answer;
    },
  });
  await expect(own.lease("reason", { workerId: "w" }, { signal: stop.signal })).rejects.toBe(reason);
  await own.leasesReturned();
  expect(await client.get(id)).toMatchObject(untouched);
});

test("a caller's own bad token says nothing of what the API takes", async () => {
  const { own } = losing([]);
  await expect(own.settle({ next: { worker_id: "w", lease_token: "mine" } })).rejects.toThrow("lease_token");
  const id = await submit("own-token");
  await expect(own.lease("own-token", { workerId: "w" })).rejects.toThrow("fetch failed");
  await own.leasesReturned();
  expect(await client.get(id)).toMatchObject(untouched);
});

test("whoever waits for what goes back may give up", async () => {
  await submit("gives-up");
  const { own } = losing(Array.from({ length: 1_000 }, () => problem(503, "unavailable")));
  await expect(own.lease("gives-up", { workerId: "w" })).rejects.toThrow("fetch failed");
  const stop = new AbortController();
  const waiting = own.leasesReturned({ signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test.each([
  ["404, 500 and 521", [404, 500, 521]],
  ["400, 403 and 409", [400, 403, 409]],
  ["200 and a page", [200]],
])(
  "a gateway's %s do not end the tries",
  async (what, statuses) => {
    const queue = `gateway-${what.length}`;
    const id = await submit(queue);
    const { own, met } = losing(statuses.map(page));
    await expect(own.lease(queue, { workerId: "w" })).rejects.toThrow();
    await own.leasesReturned();
    expect(met.releases).toBe(statuses.length + 1);
    expect(await client.get(id)).toMatchObject(untouched);
  },
  60_000,
);

test.each([404, 403, 520])("what was leased goes back when its answer became a gateway's %i", async (status) => {
  const queue = `became-${status}`;
  const id = await submit(queue);
  const { own } = losing([], () => new Response("page", { status }));
  await expect(own.lease(queue, { workerId: "w" })).rejects.toMatchObject({ status });
  await own.leasesReturned();
  expect(await client.get(id)).toMatchObject(untouched);
});

test.each([
  [401, "unauthorized", 1],
  [404, "not-found", 1],
  [429, "rate-limited", 2],
  [500, "internal", 2],
  [503, "unavailable", 2],
])("the API's own %i, %s, is followed by as many tries as may help", async (status, type, releases) => {
  await submit(type);
  const { own, met } = losing([problem(status, type)]);
  await expect(own.lease(type, { workerId: "w" })).rejects.toThrow();
  await own.leasesReturned();
  expect(met.releases).toBe(releases);
});
