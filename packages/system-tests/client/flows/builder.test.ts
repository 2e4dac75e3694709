import { defineJob } from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import { z } from "zod";
import { clientOf, testApi } from "../test-api.ts";
import { JobCancelledError, NotFoundError, ValidationError, type Handle } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const queue = "flows";
const load = defineJob("load", z.object({ month: z.string() }), z.object({ rows: z.number() }));

/** A worker that runs all of them, in the order in which they came, until the test is over. */
function work(name = queue): string[] {
  const ran: string[] = [];
  const worker = client.work(name, (_payload, { job }) => {
    ran.push(job.type);
    if (job.type === "fails") throw new Error("no such month");
    return { rows: 3 };
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  return ran;
}

test("jobs run after those they depend on, the last of all when all have ended, and handles have their results", async () => {
  const flow = client.flow();
  const january = flow.add(load, { month: "2030-01" }, { queue });
  const february = flow.add(load, { month: "2030-02" }, { queue, ref: "february" });
  const sum = flow.add({ type: "sum", queue, depends_on: [january, february] });
  flow.afterAll({ type: "tell", queue });
  const submitted = await flow.submit();
  expect(submitted.created).toBe(true);
  const ran = work();
  expectTypeOf(submitted.handle(january)).toEqualTypeOf<Handle<{ rows: number }>>();
  expect(await submitted.handle(january).result()).toEqual({ rows: 3 });
  expect(await submitted.handle(sum).result()).toEqual({ rows: 3 });
  expect(await submitted.last?.result()).toEqual({ rows: 3 });
  expect(ran).toEqual(["load", "load", "sum", "tell"]);
  const shown = await client.flows.get(submitted.id ?? "");
  expect(shown.items.map(({ ref }) => ref)).toEqual(["job-1", "february", "job-3", null]);
  expect(shown.state).toBe("succeeded");
});

test("a flow is submitted once for its key, however often it is sent", async () => {
  const submit = () => {
    const flow = client.flow();
    flow.add({ type: "b", queue: "once", depends_on: [flow.add({ type: "a", queue: "once" })] });
    return flow.submit({ idempotencyKey: "report 17" });
  };
  const [first, again] = [await submit(), await submit()];
  expect([first.created, again.created, again.id]).toEqual([true, false, first.id]);
  expect(again.jobs.map(({ id }) => id)).toEqual(first.jobs.map(({ id }) => id));
});

test("what failed is retried as a whole, a flow is cancelled, and flows are listed", async () => {
  const flow = client.flow();
  const first = flow.add({ type: "fails", queue: "failing", max_attempts: 1 });
  const second = flow.add({ type: "b", queue: "failing", depends_on: [first] });
  const { id, handle } = await flow.submit();
  work("failing");
  await expect(handle(second).result()).rejects.toThrow(JobCancelledError);
  const failed = await client.flows.list({ state: "failed", limit: 1 });
  expect(failed.items.map((one) => one.id)).toEqual([id]);
  expect((await client.flows.retry(id ?? "")).changed).toBe(1);
  await eventually(async () => expect((await client.flows.get(id ?? "")).state).toBe("failed"));
  expect(await client.flows.cancel(id ?? "")).toMatchObject({ changed: 0, flow: { id, state: "failed" } });
});

test("mistakes are told: a ref twice, a parent that is not there, an unknown flow", async () => {
  const flow = client.flow();
  flow.add({ type: "a", ref: "load" });
  expect(() => flow.add({ type: "b", ref: "load" })).toThrow(TypeError);
  flow.add({ type: "b", depends_on: ["loads"] });
  const refused = await flow.submit().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ValidationError);
  expect((refused as ValidationError).errors[0]?.pointer).toBe("/jobs/1/depends_on/0");
  await expect(client.flows.get("01920000-0000-7000-8000-000000000000")).rejects.toThrow(NotFoundError);
});
