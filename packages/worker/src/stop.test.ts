import { brokenConnection, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, gate, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, read, work } = workerHarness();

/** Longer than the last words after the deadline of a stop may take. */
const outage_ms = 5_500;

test("a stop during an outage tries until its deadline to store what its handlers have done", async () => {
  let away_until = 0;
  const database = steppingDatabase(deps().database, (step) => {
    if (step !== "answer" && performance.now() < away_until) throw brokenConnection();
  });
  const { open, opened } = gate();
  const [id] = await add({ max_attempts: 1 });
  const worker = work([defineHandler("noop", any, () => opened)], {}, { database });
  await becomes(id, { status: "running" });
  away_until = performance.now() + outage_ms;
  open();
  await worker.stop({ deadlineMs: 60_000 });
  expect(await read(id)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test("a stop of a process that then stands still past its deadline stores what is done, and gives back the rest", async () => {
  let broken = 0;
  const database = steppingDatabase(deps().database, (step) => {
    if (step !== "answer" && broken > 0) {
      broken -= 1;
      throw brokenConnection();
    }
  });
  const { open, opened } = gate();
  const [done, held] = await add({ type: "done", max_attempts: 1 }, { type: "held", max_attempts: 1 });
  const handlers = [defineHandler("done", any, () => opened), defineHandler("held", any, () => new Promise(() => {}))];
  const worker = work(handlers, { concurrency: 2, leaseSeconds: 60 }, { database });
  await becomes(done, { status: "running" });
  await becomes(held, { status: "running" });
  const stopped = worker.stop({ deadlineMs: 100 });
  const still_until = performance.now() + outage_ms;
  while (performance.now() < still_until);
  open();
  // Connections do not outlive a standstill, as a rule.
  broken = 4;
  await stopped;
  expect(await read(done)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(await read(held)).toMatchObject({ status: "queued", attempts: 0 });
});
