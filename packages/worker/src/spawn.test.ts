import { flowOf } from "@atlasqueue/core/internal";
import { submitFlow } from "@atlasqueue/core/internal/tools";
import { submitBatch, type SubmitBatchInput } from "@atlasqueue/contract";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, workerHarness } from "../test/harness.ts";
import { isolatedHandlers } from "../test/isolated-handlers.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, named, read, sql, work } = workerHarness();
const jobsOf = async (type: string) =>
  await sql()<{ id: string; status: string; result: unknown; flow_id: string | null }[]>`
    SELECT id, status, result, flow_id FROM atlasqueue.jobs WHERE type = ${type} ORDER BY id`;
const addFlow = async (batch: SubmitBatchInput): Promise<string[]> => {
  const flow = flowOf(submitBatch.parse(batch), { tenant: "default" });
  const outcome = await submitFlow(deps(), flow, { idempotency_ttl_seconds: 60 });
  if (outcome.kind !== "stored") throw new Error(outcome.kind);
  return outcome.outcomes.flatMap((one) => ("job" in one ? one.job.id : []));
};

test("what a handler adds runs after it, and what waits for the job runs after that", async () => {
  const order: string[] = [];
  const noted = (type: string) => defineHandler(type, any, () => void order.push(type));
  const split = defineHandler("split", any, ({ depth }, { spawn }) => {
    order.push(`split ${String(depth)}`);
    if (depth === 3) return spawn({ type: "leaf" }, { dependantsWait: true });
    spawn([{ type: "split", payload: { depth: Number(depth) + 1 } }], { dependantsWait: true });
  });
  const [first, last] = await addFlow({
    jobs: [
      { ref: "split", type: "split", payload: { depth: 1 } },
      { type: "last", depends_on: ["split"] },
    ],
  });
  work([split, noted("leaf"), noted("last")]);
  await becomes(last, { status: "succeeded" });
  expect(order).toEqual(["split 1", "split 2", "split 3", "leaf", "last"]);
  const flow_id = (await read(first))?.flow_id;
  expect((await jobsOf("split")).map((one) => one.flow_id)).toEqual([flow_id, flow_id, flow_id]);
});

test("a handler that throws adds nothing, and one that succeeds later adds what it added then", async () => {
  const handler = defineHandler("fails-once", any, (_payload, { job, spawn }) => {
    spawn({ type: "unhandled", payload: { attempt: job.attempt }, queue: "nowhere" });
    if (job.attempt === 1) throw new Error("not yet");
  });
  work([handler]);
  const [id] = await add({ type: "fails-once" });
  await becomes(id, { status: "succeeded", attempts: 2 });
  expect(await sql()`SELECT payload FROM atlasqueue.jobs WHERE type = 'unhandled'`).toEqual([
    { payload: { attempt: 2 } },
  ]);
});

test("jobs that cannot be added fail the attempt, and say which", async () => {
  const bad = [
    defineHandler("bad-type", any, (_payload, { spawn }) => spawn({ type: "" })),
    defineHandler("bad-ref", any, (_payload, { spawn }) => spawn({ type: "x", depends_on: ["nobody"] })),
    defineHandler("no-parent", any, (_payload, { spawn }) =>
      spawn({ type: "x", depends_on: ["01920000-0000-7000-8000-000000000000"] }),
    ),
    defineHandler("twice", any, (_payload, { spawn }) => {
      const unique = { key: "k", on_conflict: "reject" } as const;
      spawn([
        { type: "x", unique },
        { type: "x", unique },
      ]);
    }),
  ];
  work(bad);
  const ids = await add(...bad.map(({ type }) => ({ type, max_attempts: 1 })));
  const reasons = [
    "/children/0/type must be",
    "/children/0/depends_on/0 must be",
    "/children/0/depends_on/0 must be",
    "/children/1/unique is held",
  ];
  for (const [at, reason] of reasons.entries())
    await becomes(ids[at], { status: "dead", last_error: expect.stringMatching(`^SpawnError: ${reason}`) as string });
  expect(await jobsOf("x")).toEqual([]);
  expect(named("lease_lost")).toEqual([]);
});

test("a handler in its own process adds jobs as well", async () => {
  work([...isolatedHandlers]);
  const [id] = await add({ type: "spawns", payload: { n: 3 } });
  await becomes(id, { status: "succeeded", result: "spawned" });
  await eventually(async () => expect(await jobsOf("spawned")).toHaveLength(3));
});

test("a handler may add 15 MiB of jobs, in its own process as well, and is told that this was too much", async () => {
  const heavy = defineHandler("heavy", any, (_payload, { spawn }) => {
    for (;;) spawn({ type: "spawned", payload: { text: "x".repeat(250_000) }, queue: "nowhere" });
  });
  work([heavy, ...isolatedHandlers]);
  const last_error = "SpawnError: the jobs that a job adds must not have more than 15728640 characters as JSON";
  for (const type of ["heavy", "spawns-heavy"]) {
    const [id] = await add({ type, max_attempts: 1 });
    await becomes(id, { status: "dead", last_error });
  }
});

test("what a handler's process says it adds is checked again", async () => {
  work([...isolatedHandlers]);
  const [id] = await add({ type: "forges", max_attempts: 1 });
  await becomes(id, {
    status: "dead",
    last_error: expect.stringMatching(/^SpawnError: \/children\/0\/payload/) as string,
  });
  expect(await jobsOf("x")).toEqual([]);
});
