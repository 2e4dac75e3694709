import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const any = z.looseObject({ n: z.int().default(0), group: z.string().default("") });
const { add, becomes, named, read, sql, work } = workerHarness();
const inGroup = (count: number, group = "g") =>
  Array.from({ length: count }, (_, n) => ({ group, payload: { n, group } }));
const passedOn = () => named("groups_advanced").reduce((sum, event) => sum + ("count" in event ? event.count : 0), 0);

test("a worker goes through a group without a hand-over, for a hundred jobs", { tags: ["slow"] }, async () => {
  const order: number[] = [];
  work([defineHandler("noop", any, ({ n }) => void order.push(n))]);
  const ids = await add(...inGroup(250));
  await becomes(ids.at(-1), { status: "succeeded", attempts: 1 });
  expect(order).toEqual(Array.from({ length: 250 }, (_, n) => n));
  expect(passedOn()).toBeLessThan(125);
  await eventually(async () => expect(await sql()`SELECT FROM atlasqueue.claims`).toHaveLength(0));
});

test("with one slot, other jobs have their turn after the run", async () => {
  const order: string[] = [];
  work([defineHandler("noop", any, (_payload, { job }) => void order.push(job.id))], { concurrency: 1 });
  const ids = await add(...inGroup(300));
  const [other] = await add({ priority: 5 });
  await becomes(other, { status: "succeeded" });
  await becomes(ids.at(-1), { status: "succeeded" });
  expect(order.indexOf(other ?? "")).toBeLessThan(order.length - 1);
});

test("a worker that stops in the middle of a run finishes the job at hand, and the others wait with no attempt spent", async () => {
  const begun = gate();
  const go = gate();
  const worker = work([
    defineHandler("noop", any, async ({ n }) => {
      if (n !== 2) return;
      begun.open();
      await go.opened;
    }),
  ]);
  const ids = await add(...inGroup(6));
  await begun.opened;
  const stopped = worker.stop({ deadlineMs: 60_000 });
  go.open();
  await stopped;
  expect(await read(ids[2])).toMatchObject({ status: "succeeded" });
  const waiting = await Promise.all(ids.slice(3).map(read));
  expect(waiting.map((job) => job?.attempts)).toEqual([0, 0, 0]);
  work([defineHandler("noop", any, () => null)]);
  await becomes(ids.at(-1), { status: "succeeded", attempts: 1 });
});

test("two workers and many groups: one job of a group at a time, each group in its order", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `g${at}`);
  const order = new Map<string, number[]>(names.map((name) => [name, []]));
  const running = new Set<string>();
  const faults: string[] = [];
  const handler = defineHandler("noop", any, async ({ n, group }) => {
    if (running.has(group)) faults.push(group);
    running.add(group);
    order.get(group)?.push(n);
    await new Promise((resolve) => setImmediate(resolve));
    running.delete(group);
  });
  work([handler], { concurrency: 7 });
  work([handler], { concurrency: 7 });
  const all = names.flatMap((name) => inGroup(20, name));
  const ids = await add(...all.toSorted((a, b) => a.payload.n - b.payload.n));
  for (const id of ids.slice(-30)) await becomes(id, { status: "succeeded" });
  expect(faults).toEqual([]);
  for (const name of names) expect(order.get(name)).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
