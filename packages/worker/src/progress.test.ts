import { listAttempts } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, gate, workerHarness } from "../test/harness.ts";
import { isolatedHandlers } from "../test/isolated-handlers.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, read, sql, work } = workerHarness();
const attempts = (id: string | undefined) => listAttempts(deps(), "default", id ?? "");

test("a handler's progress is seen while it runs, the newest of many values", async () => {
  const { open, opened } = gate();
  work([
    defineHandler("noop", any, async (_payload, { progress }) => {
      for (let at = 0; at < 10_000; at += 1) progress(at / 10_000, `${at} of 10000`);
      await opened;
    }),
  ]);
  const [id] = await add({});
  await eventually(async () => expect((await read(id))?.progress).toEqual({ done: 0.9999, note: "9999 of 10000" }));
  open();
  await becomes(id, { status: "succeeded" });
});

test("progress is stored beside a job whose row is locked, whose own is stored once it is free", async () => {
  const { open, opened } = gate();
  const begun = new Set<string>();
  const said = gate();
  work([
    defineHandler("noop", any, async (_payload, { job, progress }) => {
      begun.add(job.id);
      await said.opened;
      progress(0.5, "halfway");
      await opened;
    }),
  ]);
  const [locked = "", other] = await add({}, {});
  await eventually(() => expect(begun.size).toBe(2));
  const halfway = { done: 0.5, note: "halfway" };
  await sql().begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${locked} FOR UPDATE`;
    said.open();
    await eventually(async () => expect((await read(other))?.progress).toEqual(halfway));
    expect((await read(locked))?.progress).toBeNull();
  });
  await eventually(async () => expect((await read(locked))?.progress).toEqual(halfway));
  open();
  await becomes(locked, { status: "succeeded" });
});

test("what a handler logs is kept with its attempt, bounded, and a succeeded attempt is listed once", async () => {
  work([
    defineHandler("chatty", any, (_payload, context) => {
      const { attempt } = context.job;
      for (let at = 0; at < 150; at += 1) context.log(`${attempt}: line ${at}`);
      context.log("\0".padEnd(5_000, "x"));
      if (attempt === 1) throw new Error("not yet");
    }),
    defineHandler("silent", any, () => null),
  ]);
  const [chatty, silent] = await add({ type: "chatty" }, { type: "silent" });
  await becomes(chatty, { status: "succeeded", attempts: 2 });
  await becomes(silent, { status: "succeeded" });
  const told = (await attempts(chatty)) ?? [];
  expect(told.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [1, "failed"],
    [2, "succeeded"],
  ]);
  for (const [at, { log }] of told.entries()) {
    expect(log).toHaveLength(100);
    expect(log[0]?.line).toBe(`${at + 1}: line 51`);
    expect(log[99]?.line).toHaveLength(1_000);
    expect(Date.parse(log[0]?.at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  }
  expect(await attempts(silent)).toMatchObject([{ attempt: 1, outcome: "succeeded", log: [] }]);
  expect(await sql()`SELECT FROM atlasqueue.job_attempts WHERE job_id = ${silent ?? ""}`).toHaveLength(0);
});

test("jobs of a group keep their log too", async () => {
  work([defineHandler("noop", any, (_payload, { log }) => log("in its turn"))]);
  const ids = await add({ group: "g" }, { group: "g" });
  for (const id of ids) {
    await becomes(id, { status: "succeeded" });
    expect(await attempts(id)).toMatchObject([{ outcome: "succeeded", log: [{ line: "in its turn" }] }]);
  }
});

test("progress and log come out of an isolated process, killed or not", async () => {
  work(isolatedHandlers);
  const [id] = await add({ type: "talk", max_attempts: 1 });
  await eventually(async () => expect((await read(id))?.progress).toEqual({ done: 0.5 }));
  await becomes(id, { status: "dead", last_error: "TimeoutError: the handler ran longer than 2 s" });
  expect(await attempts(id)).toMatchObject([{ outcome: "failed", log: [{ line: "half of it" }] }]);
});
