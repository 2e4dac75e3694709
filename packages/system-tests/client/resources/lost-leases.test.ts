import { randomUUID } from "node:crypto";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApi, type TestApi } from "../test-api.ts";
import { createClient, NetworkError, UnavailableError, type Client } from "@atlasqueue/client";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

type Fetch = typeof fetch;
const pathOf = (input: Parameters<Fetch>[0]) => new URL(String(input)).pathname;
const lost = (code = "ECONNRESET") =>
  Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(), { code }) });
/** A client that does not hear the answers that `unheard` picks; the API has done what they tell of. */
const deaf = (unheard: (path: string) => boolean, options: { retries?: number } = {}) =>
  createClient({
    ...options,
    url: api.url,
    async fetch(input, init) {
      const answer = await fetch(input, init);
      if (!unheard(pathOf(input))) return answer;
      await answer.arrayBuffer();
      throw lost();
    },
  });
const isLease = (path: string) => path.endsWith("/lease");
/** The first so many of those. */
const first = (count: number, picks: (path: string) => boolean) => {
  let left = count;
  return (path: string) => picks(path) && (left -= 1) >= 0;
};
const submit = async (queue: string, count = 1, fields: { group?: string } = {}) =>
  (
    await client.submitMany(Array.from({ length: count }, () => ({ type: "a", queue, max_attempts: 1, ...fields })))
  ).map(({ id }) => id);
const stateOf = async (id: string) => {
  const { status, attempts } = await client.get(id);
  return { status, attempts };
};
const untouched = { status: "queued", attempts: 0 };

test("what a lost answer leased goes back, however often that is not answered either", async () => {
  const ids = await submit("lost", 3);
  const heard = [first(1, isLease), first(2, (path) => path === "/v1/leases/release")];
  const hard = deaf((path) => heard.some((one) => one(path)));
  await expect(hard.lease("lost", { workerId: "w", maxJobs: 10 })).rejects.toThrow(NetworkError);
  await hard.leasesReturned();
  for (const id of ids) expect(await stateOf(id)).toEqual(untouched);
  expect(await hard.lease("lost", { workerId: "w", maxJobs: 10 })).toHaveLength(3);
});

test("a call that is aborted while its answer is on its way leaves nothing leased", async () => {
  const [id = ""] = await submit("aborted");
  const stop = new AbortController();
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!isLease(pathOf(input))) return fetch(input, init);
      // The API has answered and heard of no hang-up.
      const answer = await fetch(input, { ...init, signal: null });
      const text = await answer.text();
      expect(await stateOf(id)).toEqual({ status: "running", attempts: 1 });
      stop.abort(new Error("enough"));
      return new Response(text, answer);
    },
  });
  await expect(slow.lease("aborted", { workerId: "w" }, { signal: stop.signal })).rejects.toThrow("enough");
  await slow.leasesReturned();
  expect(await stateOf(id)).toEqual(untouched);
});

test.each([0, 5])(
  "the next job of a group, of which a settlement's lost answer told, goes back (%i retries)",
  async (retries) => {
    const queue = `run-${retries}`;
    const [, next = ""] = await submit(queue, 2, { group: "g" });
    const hard = deaf(
      first(1, (path) => path === "/v1/leases/settle"),
      { retries },
    );
    const [held] = await hard.lease(queue, { workerId: "w" });
    const acks = [{ id: held?.job.id ?? "", lease_token: held?.lease_token ?? "" }];
    const settling = hard.settle({ acks, next: { worker_id: "w" } });
    if (retries === 0) await expect(settling).rejects.toThrow(NetworkError);
    else expect(await settling).toMatchObject({ acks: [{ outcome: "succeeded" }], next: [] });
    await hard.leasesReturned();
    expect(await stateOf(next)).toEqual(untouched);
  },
);

const problemOf = (status: number, type: string) =>
  Response.json({ type: `/problems/${type}`, title: "no", status, detail: "no", instance: "x" }, { status });

test("what was leased under a token of the caller's own goes back under that", async () => {
  const [, next = ""] = await submit("own", 2, { group: "g" });
  const hard = deaf(
    first(1, (path) => path === "/v1/leases/settle"),
    { retries: 0 },
  );
  const [held] = await hard.lease("own", { workerId: "w" });
  const acks = held ? [{ id: held.job.id, lease_token: held.lease_token }] : [];
  const settling = hard.settle({ acks, next: { worker_id: "w", lease_token: randomUUID() } });
  await expect(settling).rejects.toThrow(NetworkError);
  await hard.leasesReturned();
  expect(await stateOf(next)).toEqual(untouched);
});

test.each([
  [
    "refused",
    () => {
      throw lost("ECONNREFUSED");
    },
  ],
  ["answered 429", () => problemOf(429, "rate-limited")],
  ["answered 401", () => problemOf(401, "unauthorized")],
])("so does that of a settlement whose first answer was lost, and whose later tries are %s", async (how, refuse) => {
  const queue = `tries-${how.replaceAll(" ", "-")}`;
  const [acked = "", next = ""] = await submit(queue, 2, { group: "g" });
  const [held] = await client.lease(queue, { workerId: "w" });
  let tries = 0;
  const hard = createClient({
    url: api.url,
    retries: 2,
    async fetch(input, init) {
      if (pathOf(input) !== "/v1/leases/settle") return fetch(input, init);
      tries += 1;
      if (tries > 1) return refuse();
      await (await fetch(input, init)).arrayBuffer();
      throw lost();
    },
  });
  const acks = [{ id: held?.job.id ?? "", lease_token: held?.lease_token ?? "" }];
  await expect(hard.settle({ acks, next: { worker_id: "w" } })).rejects.toThrow();
  await hard.leasesReturned();
  expect(tries).toBeGreaterThan(1);
  expect((await stateOf(acked)).status).toBe("succeeded");
  expect(await stateOf(next)).toEqual(untouched);
});

test.each([
  [502, "<html>Bad Gateway</html>"],
  [503, "upstream connect error or disconnect/reset before headers. reset reason: connection termination"],
  [503, '{"type":"about:blank","title":"Service Unavailable","detail":"connection termination"}'],
])("what was leased goes back when a gateway answers %i for an API it lost: %s", async (status, text) => {
  const [id = ""] = await submit("gateway");
  const isLost = first(1, isLease);
  const behind = createClient({
    url: api.url,
    retries: 0,
    async fetch(input, init) {
      const answer = await fetch(input, init);
      return isLost(pathOf(input)) ? new Response(text, { status }) : answer;
    },
  });
  await expect(behind.lease("gateway", { workerId: "w" })).rejects.toThrow(UnavailableError);
  await behind.leasesReturned();
  expect(await stateOf(id)).toEqual(untouched);
  expect(await behind.lease("gateway", { workerId: "w" })).toMatchObject([{ job: { id } }]);
});

test("an answered refusal, and an API that was never reached, leave nothing to give back", async () => {
  const asked: string[] = [];
  const watched = createClient({
    url: api.url,
    fetch: (input, init) => (asked.push(pathOf(input)), fetch(input, init)),
  });
  await expect(watched.lease("refused", { workerId: "w", maxJobs: 0 })).rejects.toThrow("max_jobs");
  const away = createClient({
    url: api.url,
    retries: 1,
    async fetch() {
      asked.push("away");
      throw lost("ECONNREFUSED");
    },
  });
  await expect(away.lease("away", { workerId: "w" })).rejects.toThrow(NetworkError);
  await expect(away.settle({ next: { worker_id: "w" } })).rejects.toThrow(NetworkError);
  await Promise.all([watched.leasesReturned(), away.leasesReturned()]);
  expect(asked).toEqual(["/v1/queues/refused/lease", ...Array.from({ length: 4 }, () => "away")]);
});

test("while ten lost answers are not made good, nothing more is leased", async () => {
  let isAway = true;
  const hard = deaf((path) => isAway && (isLease(path) || path === "/v1/leases/release"), { retries: 0 });
  for (let n = 0; n < 10; n += 1) await expect(hard.lease("away", { workerId: "w" })).rejects.toThrow(NetworkError);
  await expect(hard.lease("away", { workerId: "w" })).rejects.toThrow(UnavailableError);
  isAway = false;
  await hard.leasesReturned();
  await eventually(async () => expect(await hard.lease("away", { workerId: "w" })).toEqual([]));
});
