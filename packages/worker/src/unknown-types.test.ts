import { explainJob } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, named, read, sql, work } = workerHarness();
const old_version = [defineHandler("noop", any, () => {})];
const new_version = [...old_version, defineHandler("new", any, () => "done")];

test("a job whose type has no handler here goes back with no attempt counted, and runs where there is one", async () => {
  work(old_version);
  const [id = "", next] = await add({ type: "new", max_attempts: 1, group: "g" }, { type: "noop", group: "g" });
  await becomes(id, { status: "scheduled", attempts: 0, ready_at: null });
  const { run_at, due_at } = (await read(id)) ?? {};
  expect(Number(due_at) - Number(run_at)).toBeGreaterThanOrEqual(1_000);
  const why = async () => (await explainJob(deps(), "default", id))?.reasons.map(({ detail }) => detail).join(" ");
  await eventually(async () => expect(await why()).toContain('has a handler for type "new"'));
  expect(named("job_type_unknown")).toMatchObject([{ job_id: id, job_type: "new" }]);
  expect(named("handler_start")).toEqual([]);
  work(new_version);
  await eventually(async () => {
    // As if the sweep's time had come.
    await sql()`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at IS NOT NULL`;
    expect(await read(id)).toMatchObject({ status: "succeeded", attempts: 1, run_at });
  });
  await becomes(next, { status: "succeeded", attempts: 1 });
});

test("when it has been ready for `unknownTypeSeconds`, it fails", async () => {
  work(old_version, { unknownTypeSeconds: 60 });
  const [id = ""] = await add({ type: "new", max_attempts: 1 });
  await becomes(id, { status: "scheduled", attempts: 0 });
  await sql()`UPDATE atlasqueue.jobs SET run_at = run_at - interval '61 seconds', due_at = now()`;
  await becomes(id, { status: "dead", attempts: 1, last_error: 'UnknownType: no handler for type "new"' });
});
