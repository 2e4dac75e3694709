import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { problemResponse } from "../../../client/test/problems.ts";
import { gate } from "../recorder.ts";
import { clientOf, lateFetch, testApi, workersOf } from "../test-api.ts";
import { createClient, type Client, type HandlerFunction, type JsonObject, type WorkOptions } from "@atlasqueue/client";

const api = forFile(() => testApi({ DATABASE_TIMEOUT_SECONDS: "1.5" }));
const client = clientOf(api);

function work(
  from: Client,
  queue: string,
  handler: HandlerFunction<JsonObject>,
  leaseSeconds: number,
  more: WorkOptions = {},
) {
  const told = workersOf(from)(queue, handler, { leaseSeconds, waitSeconds: 1, ...more });
  onTestFinished(() => api.network.heal());
  return told;
}
const submit = async (queue: string) => (await client.submit({ type: "a", queue, max_attempts: 1 })).id;

/** A handler that ends when the test says, or is aborted. */
function heedful() {
  const { opened, open } = gate();
  const aborts: unknown[] = [];
  const handler: HandlerFunction<JsonObject> = (_payload, { signal }) => {
    signal.addEventListener("abort", () => aborts.push(signal.reason));
    return opened;
  };
  return { handler, open, aborts };
}

/** The server itself can still be asked here. */
const endedFor = (id: string, seconds: number) =>
  eventually(
    async () =>
      expect(
        await api.database.sql`
          SELECT FROM atlasqueue.jobs WHERE id = ${id} AND status = 'running' AND locked_until < now() - make_interval(secs => ${seconds})`,
      ).toHaveLength(1),
    { timeout_ms: 30_000 },
  );

const away = () => problemResponse("unavailable");

const reset = () => new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });

/** A client whose renewals and settlements are answered with this instead, while there is something. */
function between() {
  const state: { answer?: (() => Response) | undefined; asked: number } = { asked: 0 };
  const interposed = createClient({
    url: api.url,
    fetch: async (input, init) => {
      if (!state.answer || !/\/(heartbeat|ack|nack|settle)$/.test(String(input))) return fetch(input, init);
      state.asked += 1;
      return state.answer();
    },
  });
  return { interposed, state };
}

/** A job of a second's lease whose handler runs, in a worker with such a client. */
async function running(queue: string) {
  const { interposed, state } = between();
  const { handler, aborts } = heedful();
  const told = work(interposed, queue, handler, 1);
  const id = await submit(queue);
  await eventually(() => expect(told.named("handler_start")).toHaveLength(1));
  return { id, state, aborts, ...told };
}

test("while the database is away, a handler outlives its lease", { tags: ["nightly"], timeout: 60_000 }, async () => {
  const { handler, open, aborts } = heedful();
  const { named } = work(client, "gone", handler, 3);
  const id = await submit("gone");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  api.network.refuse();
  await endedFor(id, 2);
  expect(aborts).toEqual([]);
  api.network.heal();
  // Renewed before any sweeper has ended it.
  await eventually(async () =>
    expect(Date.parse((await client.get(id)).locked_until ?? "")).toBeGreaterThan(Date.now()),
  );
  open();
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("lease_lost")).toEqual([]);
});

test("a run of a group goes on after the outage, in its order", { tags: ["nightly"], timeout: 60_000 }, async () => {
  const [first, second] = await client.submitMany(
    [1, 2].map(() => ({ type: "a", queue: "run", group: "g", max_attempts: 1 })),
  );
  const { opened, open } = gate();
  const order: string[] = [];
  const handler: HandlerFunction<JsonObject> = async (_payload, { job }) => {
    order.push(job.id);
    await opened;
  };
  const { named } = work(client, "run", handler, 3, { runMax: 10 });
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  api.network.refuse();
  open();
  await endedFor(first?.id ?? "", 1);
  api.network.heal();
  await eventually(
    async () => expect(await client.get(second?.id ?? "")).toMatchObject({ status: "succeeded", attempts: 1 }),
    { timeout_ms: 20_000 },
  );
  expect(await client.get(first?.id ?? "")).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(order).toEqual([first?.id, second?.id]);
});

test("it goes on until the API says that the job is another's", { tags: ["nightly"], timeout: 60_000 }, async () => {
  const { id, state, aborts } = await running("taken");
  state.answer = away;
  // The API that says so is alone: others have an answer from the database, and end the lease.
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "dead" }), {
    timeout_ms: 20_000,
  });
  expect(aborts).toEqual([]);
  state.answer = undefined;
  await eventually(() => expect(aborts).toMatchObject([{ name: "LeaseLostError" }]));
});

test(
  "a connection that breaks in an outage is tried again at once",
  { tags: ["nightly"], timeout: 60_000 },
  async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.99);
    onTestFinished(() => random.mockRestore());
    const { state, aborts } = await running("broken");
    state.answer = away;
    // As many failures as the longest rests come after.
    await eventually(() => expect(state.asked).toBeGreaterThanOrEqual(7), { timeout_ms: 30_000 });
    let asked_again = false;
    state.answer = () => {
      state.answer = () => {
        asked_again = true;
        return away();
      };
      throw reset();
    };
    // Not once the hold was over.
    await eventually(() => expect(asked_again).toBe(true), { timeout_ms: 30_000 });
    expect(aborts).toEqual([]);
  },
);

test("if the API falls silent then, the handler is aborted later", { tags: ["nightly"], timeout: 60_000 }, async () => {
  const { id, state, aborts } = await running("silent");
  state.answer = away;
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "dead" }), {
    timeout_ms: 20_000,
  });
  expect(aborts).toEqual([]);
  const asked_before = state.asked;
  state.answer = () => {
    throw reset();
  };
  await eventually(() => expect(aborts).toMatchObject([{ name: "LeaseLostError" }]), { timeout_ms: 30_000 });
  // The worker pauses for at most half of the time left of its lease.
  expect(state.asked - asked_before).toBeGreaterThanOrEqual(4);
});

test.each([
  ["of a gateway", () => new Response("<html>", { status: 503 })],
  [
    "of an API without room",
    () => Response.json({ type: "/problems/no-room", title: "no", status: 503, detail: "" }, { status: 503 }),
  ],
])("a 503 %s holds nothing beyond the lease", async (whose, answer) => {
  const { id, state, aborts, named } = await running(whose.replaceAll(" ", "-"));
  state.answer = answer;
  await eventually(() => expect(aborts).toMatchObject([{ name: "LeaseLostError" }]));
  expect(named("lease_lost")).toMatchObject([{ job: { id }, during: "handling" }]);
});

test(
  "a job to be started late waits for the database, and starts once it is renewed",
  { tags: ["nightly"] },
  async () => {
    const id = await submit("late");
    let refusals = 2;
    const late = lateFetch(3_000);
    const slow = createClient({
      url: api.url,
      async fetch(input, init) {
        if (!String(input).endsWith("/heartbeat") || refusals === 0) return late(input, init);
        refusals -= 1;
        return away();
      },
    });
    const started: number[] = [];
    const { named } = work(slow, "late", () => void started.push(refusals), 6);
    await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 }), {
      timeout_ms: 20_000,
    });
    expect(started).toEqual([0]);
    expect(named("lease_lost")).toEqual([]);
  },
);

test("a stop ends in time while the database is away", async () => {
  const { id, state, aborts, worker } = await running("stopped");
  state.answer = away;
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "dead" }), { timeout_ms: 20_000 });
  const began_at = performance.now();
  await worker.stop({ deadlineMs: 20 });
  // Its farewell takes five seconds at most; without a deadline of its own a stop takes twenty-five.
  expect(performance.now() - began_at).toBeLessThan(20_000);
  expect(aborts).toMatchObject([{ name: "AbortError" }]);
});
