import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { gate } from "../recorder.ts";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { createClient, type HandlerFunction, type JsonObject } from "@atlasqueue/client";

// What stands in front of the API answers in its place, in the API's statuses but not in its words.

const api = forFile(testApi);
const client = clientOf(api);

const page = (status: number) => new Response(`${status} page\n`, { status });
const isSettlement = (path: string) => /\/(ack|nack|settle)$/.test(path);
const isHeartbeat = (path: string) => path.endsWith("/heartbeat");

/** A worker behind a gateway that answers what `picks` picks with this status itself, so many times. */
function workBehind(queue: string, status: number, picks: (path: string, body: string) => boolean, times: number) {
  const passed: string[] = [];
  let answered = 0;
  const behind = createClient({
    url: api.url,
    async fetch(input, init) {
      const { pathname } = new URL(String(input));
      if (picks(pathname, String(init?.body)) && answered < times) {
        answered += 1;
        return page(status);
      }
      const answer = await fetch(input, init);
      passed.push(pathname);
      return answer;
    },
  });
  const work = (handler: HandlerFunction<JsonObject>, leaseSeconds: number) =>
    workersOf(behind, { waitSeconds: 1 })(queue, handler, { leaseSeconds });
  return { work, answered: () => answered, passed };
}
const submit = async (queue: string) => (await client.submit({ type: "a", queue, max_attempts: 1 })).id;
const ended = (id: string, timeoutMs = 20_000) => client.wait(id, { timeoutMs });
const succeeded = { status: "succeeded", attempts: 1 };

test("a gateway's 404 to heartbeats aborts no handler while its lease holds", { tags: ["slow"] }, async () => {
  const { work, answered, passed } = workBehind("beats", 404, isHeartbeat, 3);
  const { opened, open } = gate();
  const { named } = work(() => opened, 6);
  const id = await submit("beats");
  await eventually(() => expect(passed.some(isHeartbeat)).toBe(true), { timeout_ms: 20_000 });
  open();
  expect(await ended(id)).toMatchObject(succeeded);
  expect(answered()).toBe(3);
  expect(named("lease_lost")).toEqual([]);
});

test("an outcome that meets a gateway's 401, 409 or 413 is kept", async () => {
  const kept = async (status: number) => {
    const queue = `acks-${status}`;
    const { work, answered } = workBehind(queue, status, isSettlement, 3);
    const { named } = work(() => "done", 30);
    const told = { job: await ended(await submit(queue)), answered: answered() };
    return { status, ...told, starts: named("handler_start").length, refused: named("settlement_refused") };
  };
  const statuses = [401, 409, 413];
  expect(await Promise.all(statuses.map(kept))).toMatchObject(
    statuses.map((status) => ({
      status,
      job: { ...succeeded, result: "done" },
      answered: 3,
      starts: 1,
      refused: [],
    })),
  );
});

test("so are those that went together", async () => {
  const { work, answered } = workBehind("together", 413, isSettlement, 15);
  const { opened, open } = gate();
  const { named } = work(() => opened, 30);
  const jobs = Array.from({ length: 10 }, () => ({ type: "a", queue: "together", max_attempts: 1 }));
  const handles = await client.submitMany(jobs);
  await eventually(() => expect(named("handler_start")).toHaveLength(10));
  open();
  for (const { id } of handles) expect(await ended(id)).toMatchObject(succeeded);
  expect(answered()).toBe(15);
});

test("so is one that adds jobs and meets a gateway's 409", async () => {
  const queue = "adds";
  const { work } = workBehind(queue, 409, isSettlement, 2);
  work((_payload, { spawn }) => spawn({ type: "part", queue: "nobody" }), 30);
  expect(await ended(await submit(queue))).toMatchObject(succeeded);
});

test(
  "a gateway that never lets an outcome through is believed in the end: the attempt fails, and says why",
  { tags: ["slow"], timeout: 90_000 },
  async () => {
    const isTooMuch = (_path: string, body: string) => body.includes("too much for it");
    const { work, answered } = workBehind("narrow", 413, isTooMuch, Infinity);
    const { named } = work(() => "too much for it", 30);
    const dead = await ended(await submit("narrow"), 60_000);
    expect(dead).toMatchObject({ status: "dead", attempts: 1, last_error: expect.stringContaining("Refused") });
    expect(named("settlement_refused")).toMatchObject([{ error: { status: 413 } }]);
    expect(answered()).toBeGreaterThan(5);
  },
);

test("a step whose result meets a gateway's 404 is stored afterwards", async () => {
  const queue = "steps";
  const { work } = workBehind(queue, 404, (path) => path.includes("/steps/"), 3);
  const { named } = work((_payload, { step }) => step("once", () => 1), 30);
  expect(await ended(await submit(queue))).toMatchObject({ ...succeeded, result: 1 });
  expect(named("lease_lost")).toEqual([]);
});

test("progress that a gateway does not let through costs no lease", async () => {
  const { opened, open } = gate();
  let renewals = 0;
  const behind = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!String(input).endsWith("/heartbeat")) return fetch(input, init);
      if (String(init?.body).includes('"progress"')) return page(413);
      const answer = await fetch(input, init);
      renewals += 1;
      return answer;
    },
  });
  const handler: HandlerFunction<JsonObject> = async (_payload, { progress }) => {
    progress("much of it");
    await opened;
  };
  const { named } = workersOf(behind)("much", handler, { leaseSeconds: 2 });
  const id = await submit("much");
  await eventually(() => expect(renewals).toBeGreaterThan(3), { timeout_ms: 20_000 });
  open();
  expect(await ended(id)).toMatchObject(succeeded);
  expect(named("lease_lost")).toEqual([]);
});
