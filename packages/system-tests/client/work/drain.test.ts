import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { gate } from "../recorder.ts";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { createClient } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const work = workersOf(client);
const submit = async (queue: string) => (await client.submit({ type: "a", queue })).id;

test("a stop lets the running handlers finish and takes nothing new", async () => {
  const { opened, open } = gate();
  const { worker, named } = work("drain", () => opened, { concurrency: 2 });
  const first = await submit("drain");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  const stopped = worker.stop();
  const second = await submit("drain");
  open();
  await stopped;
  expect(await client.get(first)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(await client.get(second)).toMatchObject({ status: "queued", attempts: 0 });
  expect(named("handler_start")).toHaveLength(1);
  // The waiting call has taken nothing with it: the next worker gets the job at once.
  expect(await client.lease("drain", { workerId: "next" })).toMatchObject([{ job: { id: second } }]);
});

test("at the deadline a handler is aborted and its job is given back, ready at once, with no attempt spent", async () => {
  let reason: unknown;
  const { worker, named } = work(
    "deadline",
    (_payload, { signal }) => new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
  );
  const { id } = await client.submit({ type: "a", queue: "deadline", max_attempts: 1 });
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  await worker.stop({ deadlineMs: 20 });
  expect(reason).toMatchObject({ name: "AbortError" });
  expect(named("job_settled")).toMatchObject([{ outcome: "released" }]);
  const [held] = await client.lease("deadline", { workerId: "next", waitSeconds: 10 });
  expect(held?.job).toMatchObject({ id, attempts: 1, last_error: null });
});

test("aborting the signal is a stop", async () => {
  const stop = new AbortController();
  const { worker } = work("signal", () => "done", { signal: stop.signal });
  const id = await submit("signal");
  await client.wait(id);
  stop.abort();
  await worker.stop();
  const left = await submit("signal");
  expect(await client.get(left)).toMatchObject({ status: "queued" });
});

test("an outcome is kept while the API is away, and delivered when it is back", async () => {
  const { opened, open } = gate();
  const { named } = work("kept", () => opened);
  const id = await submit("kept");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  await api.stop();
  open();
  await eventually(() => expect(named("api_unavailable").map(({ during }) => during)).toContain("settle"));
  await api.start();
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  // And it leases jobs again.
  expect(await client.wait(await submit("kept"))).toMatchObject({ status: "succeeded" });
});

test("a handler is aborted when its lease ends and the API could not be reached", async () => {
  let reason: unknown;
  const { worker, named } = work(
    "unreachable",
    (_payload, { signal }) => new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
    { leaseSeconds: 1 },
  );
  await submit("unreachable");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  await api.stop();
  await eventually(() => expect(reason).toMatchObject({ name: "LeaseLostError" }));
  expect(named("lease_lost")).toMatchObject([{ during: "handling" }]);
  expect(worker.running).toBe(0);
  await api.start();
});

test("an outcome whose lease has ended meanwhile is given up", { tags: ["slow"] }, async () => {
  const { opened, open } = gate();
  const { named } = work("too-late", () => opened, { leaseSeconds: 1 });
  await submit("too-late");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  await api.stop();
  open();
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ during: "settling" }]));
  await api.start();
});

test("a stop while the API is away ends soon after its deadline", { tags: ["slow"] }, async () => {
  const { worker, named } = work("away", () => new Promise(() => {}));
  await submit("away");
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  await api.stop();
  const started = performance.now();
  await worker.stop({ deadlineMs: 20 });
  // Its farewell takes five seconds at most; without a deadline of its own a stop takes twenty-five.
  expect(performance.now() - started).toBeLessThan(20_000);
  await api.start();
});

test("an observer that throws is no reason to lose a job", async () => {
  const worker = client.work("thrower", () => "fine", {
    observe: () => {
      throw new Error("mine");
    },
  });
  onTestFinished(() => worker.stop());
  expect(await client.wait(await submit("thrower"))).toMatchObject({ status: "succeeded", result: "fine" });
});

test("the outcome of a locked job delays no other outcome, and is stored after the lock ends", async () => {
  const [locked, end] = [gate(), gate()];
  const { named } = work("locks", (_payload, { job }) => job.type === "locked" && locked.opened, { leaseSeconds: 60 });
  onTestFinished(end.open);
  const { id } = await client.submit({ type: "locked", queue: "locks" });
  await eventually(() => expect(named("handler_start")).toHaveLength(1));
  const holding = api.database.sql.begin(async (sql) => {
    await sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE`;
    locked.open();
    await end.opened;
  });
  await eventually(() => expect(named("api_unavailable")).toMatchObject([{ during: "settle" }]), {
    timeout_ms: 30_000,
  });
  const other = await submit("locks");
  await eventually(async () => expect(await client.get(other)).toMatchObject({ status: "succeeded" }), {
    timeout_ms: 20_000,
  });
  expect(await client.get(id)).toMatchObject({ status: "running" });
  end.open();
  await holding;
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 }), {
    timeout_ms: 30_000,
  });
  expect(named("lease_lost")).toEqual([]);
});

test("at a stop's deadline the next job of a group goes back, though the answer that tells of it is still out", async () => {
  const jobs = [1, 2].map(() => ({ type: "a", queue: "late", group: "g", max_attempts: 1 }));
  const [done, next] = await client.submitMany(jobs);
  const isSettled = gate();
  const never = gate();
  onTestFinished(never.open);
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      const answer = await fetch(input, init);
      if (!String(input).endsWith("/settle") || !String(init?.body).includes('"next"')) return answer;
      isSettled.open();
      await never.opened;
      return answer;
    },
  });
  const { worker, named } = workersOf(slow)("late", () => "done", { runMax: 10 });
  await isSettled.opened;
  expect(await client.get(next?.id ?? "")).toMatchObject({ status: "running", attempts: 1 });
  await worker.stop({ deadlineMs: 0 });
  expect(await client.get(next?.id ?? "")).toMatchObject({ status: "queued", attempts: 0 });
  expect(await client.get(done?.id ?? "")).toMatchObject({ status: "succeeded" });
  expect(named("job_settled")).toMatchObject([{ job: { id: done?.id }, outcome: "succeeded" }]);
});
