import { defineHandler as defineRemote } from "@atlasqueue/client";
import { defineJob } from "@atlasqueue/contract";
import { defineBatchHandler, defineHandler, RetryAfterError, type SubmitMiddleware } from "@atlasqueue/worker";
import { expect, test } from "vitest";
import { z } from "zod";
import "./matchers/vitest.ts";
import { createTestQueue, type TestQueueOptions } from "./index.ts";

const now = new Date("2030-01-01T00:00:00Z");
const make = (options: TestQueueOptions = {}) => createTestQueue({ now, ...options });
const sendEmail = defineJob("email.send", z.object({ to: z.string() }));
const email = (to: string) => ({ type: "email.send", payload: { to } });
const note = (into: string[]) => defineHandler(sendEmail, ({ to }) => void into.push(to));
const outcomes = (queue: ReturnType<typeof make>) => queue.submitted().map(({ status }) => status);

test("a job is submitted, and runs when the queue is drained", async () => {
  const sent: string[] = [];
  const queue = make({ handlers: [note(sent)] });
  await queue.submit(email("ada"));
  expect(queue).toHaveSubmitted("email.send", { to: "ada" });
  expect(queue).not.toHaveSucceeded(sendEmail);
  expect(await queue.drain()).toMatchObject([{ status: "succeeded", attempts: 1 }]);
  expect(queue).toHaveSucceeded(sendEmail, { to: "ada" });
  expect(sent).toEqual(["ada"]);
});

test("a batch handler gets the ready jobs of its type together, and middleware adds to their payloads", async () => {
  const batches: unknown[] = [];
  const handler = defineBatchHandler(
    "email.send",
    z.object({ to: z.string(), by: z.string() }),
    { size: 2, waitMs: 0 },
    (jobs) => {
      batches.push(jobs.map(({ payload }) => payload));
      return jobs.map(({ payload: { to } }) => (to === "eve" ? new Error("no") : to));
    },
  );
  const adds: SubmitMiddleware = ({ payload }, next) => {
    payload["by"] = "me";
    return next();
  };
  const queue = make({ handlers: [handler], middleware: [adds] });
  await queue.submitMany(["ada", "eve", "bob"].map((to) => ({ ...email(to), max_attempts: 1 })));
  await queue.drain();
  expect(batches).toEqual([
    [
      { to: "ada", by: "me" },
      { to: "eve", by: "me" },
    ],
    [{ to: "bob", by: "me" }],
  ]);
  expect(outcomes(queue)).toEqual(["succeeded", "dead", "succeeded"]);
});

test("a matcher that fails names the jobs that there are", async () => {
  const queue = make();
  await queue.submit(email("ada"));
  expect(() => expect(queue).toHaveSubmitted("email.send", { to: "eve" })).toThrow(/queued .*ada/);
});

test("inline, a submission runs its job before it resolves", async () => {
  const sent: string[] = [];
  const queue = make({ handlers: [note(sent)] });
  queue.runInline();
  await queue.submit(email("ada"));
  expect(sent).toEqual(["ada"]);
  queue.runInline(false);
  await queue.submit(email("eve"));
  expect(sent).toEqual(["ada"]);
});

test("a handler of the client runs too, and one that there is not leaves its jobs", async () => {
  const queue = make();
  queue.handle(defineRemote(sendEmail, ({ to }, { job }) => [to, job.id]));
  const { id } = await queue.submit(email("ada"));
  await queue.submit({ type: "other" });
  expect(await queue.drain()).toMatchObject([{ result: ["ada", id] }]);
  expect(outcomes(queue)).toEqual(["succeeded", "queued"]);
});

test("a handler of the type * takes the types that have no other", async () => {
  const [emails, others]: [string[], string[]] = [[], []];
  const rest = defineHandler("*", z.json(), (_payload, { job }) => void others.push(job.type));
  const queue = make({ handlers: [note(emails), rest] });
  await queue.submit(email("ada"));
  await queue.submit({ type: "report.make" });
  await queue.drain();
  expect([emails, others]).toEqual([["ada"], ["report.make"]]);
});

test("a failed job is retried when the clock has come to it, and dies after its last attempt", async () => {
  const queue = make({ handlers: [defineHandler("fails", z.unknown(), () => Promise.reject(new Error("no")))] });
  await queue.submit({ type: "fails", max_attempts: 3 });
  expect(await queue.drain()).toMatchObject([{ status: "failed", run_at: "2030-01-01T00:00:10.000Z" }]);
  queue.clock.advance({ seconds: 9 });
  expect(await queue.drain()).toEqual([]);
  queue.clock.advance({ seconds: 1 });
  expect(await queue.drain()).toMatchObject([{ attempts: 2, status: "failed" }]);
  expect(await queue.drain({ untilFinished: true })).toMatchObject([
    { status: "dead", dead_reason: "attempts_exhausted", last_error: "Error: no" },
  ]);
});

test("a handler chooses its delay, and a payload that does not fit fails its job", async () => {
  const queue = make({
    handlers: [
      note([]),
      defineHandler("later", z.unknown(), () => Promise.reject(new RetryAfterError("busy", 60_000))),
    ],
  });
  await queue.submit({ type: "later" });
  await queue.submit({ type: "email.send", payload: { to: 1 } });
  await queue.drain();
  expect(queue.submitted("later")).toMatchObject([{ status: "failed", run_at: "2030-01-01T00:01:00.000Z" }]);
  expect(queue.submitted(sendEmail)[0]?.last_error).toMatch(/^PayloadError/);
});

test("priority comes before age, and a group keeps its order through a retry", async () => {
  const ran: string[] = [];
  const flaky = defineHandler("flaky", z.object({ name: z.string() }), ({ name }, { job }) => {
    ran.push(name);
    if (name === "first" && job.attempt === 1) throw new Error("once");
  });
  const queue = make({ handlers: [flaky] });
  await queue.submit({ type: "flaky", payload: { name: "first" }, group: "g" });
  await queue.submit({ type: "flaky", payload: { name: "second" }, group: "g" });
  await queue.submit({ type: "flaky", payload: { name: "urgent" }, priority: 9 });
  expect(outcomes(queue)).toEqual(["queued", "blocked", "queued"]);
  await queue.drain({ untilFinished: true });
  expect(ran).toEqual(["urgent", "first", "first", "second"]);
});

test("children that a job adds run after it, and have its result", async () => {
  const parent = defineHandler("parent", z.unknown(), (_, { spawn }) => {
    spawn([
      { type: "child", ref: "a" },
      { type: "child", depends_on: ["a"] },
    ]);
    return 7;
  });
  const child = defineHandler("child", z.unknown(), async (_, { parents }) =>
    Object.values(await parents()).map(({ result }) => result),
  );
  const queue = make({ handlers: [parent, child] });
  await queue.submit({ type: "parent" });
  expect(await queue.drain()).toMatchObject([{ result: 7 }, { result: [7] }, { result: [7, [7]] }]);
});

test("a flow waits for its parents, and is cancelled with them", async () => {
  const queue = make({
    handlers: [defineHandler("dies", z.unknown(), () => Promise.reject(new Error("no"))), note([])],
  });
  const { flow_id } = await queue.submitFlow({
    jobs: [
      { ...email("ada"), depends_on: ["parent"] },
      { type: "dies", ref: "parent", max_attempts: 1 },
    ],
    then: email("eve"),
  });
  expect(flow_id).toEqual(expect.any(String));
  expect(outcomes(queue)).toEqual(["blocked", "queued", "blocked"]);
  await queue.drain();
  expect(outcomes(queue)).toEqual(["cancelled", "dead", "succeeded"]);
});

test("steps are kept, and a parked job goes on with its signal or at the end of its time", async () => {
  let charged = 0;
  const order = defineHandler("order", z.unknown(), async (_, { step, waitFor }) => {
    await step("charge", () => (charged += 1));
    return waitFor("approved", { timeoutSeconds: 3_600 });
  });
  const queue = make({ handlers: [order] });
  const [one, two] = [await queue.submit({ type: "order" }), await queue.submit({ type: "order" })];
  expect(await queue.drain()).toMatchObject([{ status: "scheduled", waits_for: "approved", attempts: 0 }, {}]);
  expect(await queue.signal(one.id, "approved", "yes")).toBe("sent");
  await queue.drain();
  queue.clock.advance({ hours: 1 });
  await queue.drain();
  expect(queue.submitted().map(({ result }) => result)).toEqual([
    { timed_out: false, payload: "yes" },
    { timed_out: true },
  ]);
  expect(charged).toBe(2);
  expect([await queue.signal(two.id, "approved"), await queue.signal("none", "approved")]).toEqual([
    "finished",
    "unknown",
  ]);
});

test("a job that has not run when its time is over expires, with what waits for it; one that has run does not", async () => {
  const fails = defineHandler(sendEmail, () => Promise.reject(new Error("no")));
  const queue = make({ handlers: [fails] });
  await queue.submit({ ...email("ada"), expires_in: 60 });
  await queue.drain();
  await queue.submitFlow({
    jobs: [
      { type: "other", ref: "late", expires_in: 60 },
      { type: "other", depends_on: ["late"] },
    ],
  });
  queue.clock.advance({ seconds: 59 });
  expect(outcomes(queue).slice(1)).toEqual(["queued", "blocked"]);
  queue.clock.advance({ seconds: 1 });
  expect(outcomes(queue)).toEqual(["queued", "cancelled", "cancelled"]);
  expect(queue.submitted()[1]).toMatchObject({ last_error: "expired", expires_at: null });
});

test("a schedule submits a job for each occurrence that the clock passes", async () => {
  const queue = make();
  await queue.schedules.put({ name: "nightly", cron: "30 2 * * *", job: { type: "report" } });
  expect((await queue.schedules.get("nightly"))?.next_runs[0]).toBe("2030-01-01T02:30:00.000Z");
  queue.clock.advance({ days: 2 });
  expect(queue.submitted("report")).toHaveLength(2);
  await queue.schedules.pause("nightly");
  queue.clock.advance({ days: 2 });
  expect(queue.submitted("report")).toHaveLength(2);
});

test("a job that adds itself for ever ends the drain", async () => {
  const again = defineHandler("again", z.unknown(), (_, { spawn }) => spawn({ type: "again" }));
  const queue = make({ handlers: [again] });
  await queue.submit({ type: "again" });
  await expect(queue.drain({ attemptsMax: 50 })).rejects.toThrow(/50 attempts/);
});

test("a job has what it names, else the defaults of its type, else those of its queue", async () => {
  const defaults = { mail: { max_attempts: 2, timeout_seconds: 30 } };
  const queue = createTestQueue({ defaults });
  const typed = defineJob("typed", z.object({}), { max_attempts: 7 });
  await queue.submit(typed.submission({}, { queue: "mail" }));
  await queue.submit({ type: "named", queue: "mail", max_attempts: 3 });
  await queue.submit({ type: "plain", queue: "mail" });
  await queue.submit({ type: "elsewhere" });
  expect(queue.submitted().map(({ max_attempts, timeout_seconds }) => [max_attempts, timeout_seconds])).toEqual([
    [7, 30],
    [3, 30],
    [2, 30],
    [5, null],
  ]);
});
