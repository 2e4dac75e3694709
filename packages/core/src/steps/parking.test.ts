import { expect, test } from "vitest";
import { stepsHarness } from "../../test/steps-harness.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { complete } from "../settle/settle.ts";
import { park } from "./park.ts";

const { deps, recorded, add, take, started, read, signal, timeIsOver, counts } = stepsHarness();

test("a job is parked until its signal, and no attempt, history or slot is spent", async () => {
  const [id = ""] = await add({});
  for (let time = 1; time <= 50; time += 1) {
    const lease = await take(id);
    expect(lease.attempts).toBe(1);
    expect(await park(deps, lease, `s${time}`, 3_600)).toMatchObject({ kind: "parked" });
    const parked = await read(id);
    expect(parked).toMatchObject({ status: "scheduled", waits_for: `s${time}`, attempts: 0, locked_until: null });
    expect(parked?.due_at).toEqual(parked?.run_at);
    expect(await signal(id, `s${time}`, time)).toMatchObject({
      kind: "sent",
      woken: true,
      job: { status: "queued", waits_for: null, due_at: null },
    });
  }
  const lease = await take(id);
  expect(await park(deps, lease, "s50", 3_600)).toEqual({ kind: "signalled", payload: 50 });
  expect(await deps.database.sql`SELECT FROM atlasqueue.job_attempts`).toEqual([]);
  expect(recorded.named("job_parked")).toHaveLength(50);
  await complete(deps, [{ lease, result: null }]);
  await counts();
});

test("a signal sent before its wait is not lost, and the first of its name counts", async () => {
  const [id = ""] = await add({});
  expect(await signal(id, "go", { by: "ada" })).toMatchObject({
    kind: "sent",
    woken: false,
    job: { status: "queued" },
  });
  expect(await signal(id, "go", { by: "bob" })).toMatchObject({ kind: "sent_before" });
  const lease = await take(id);
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "signalled", payload: { by: "ada" } });
  expect(await read(id)).toMatchObject({ status: "running", attempts: 1 });
});

test("a signal of another name does not wake a job", async () => {
  const lease = await started();
  await park(deps, lease, "go", 60);
  expect(await signal(lease.id, "stop")).toMatchObject({ kind: "sent", woken: false, job: { status: "scheduled" } });
  expect(await read(lease.id)).toMatchObject({ waits_for: "go" });
});

test("when the time is over the job goes on, and a signal that comes later does not count", async () => {
  const [id = ""] = await add({});
  await park(deps, await take(id), "go", 60);
  await timeIsOver(id);
  expect((await promoteDue(deps, 10)).map((job) => job.id)).toEqual([id]);
  expect(await read(id)).toMatchObject({ status: "queued", waits_for: null });
  expect(await signal(id)).toMatchObject({ kind: "too_late" });
  const lease = await take(id);
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "timed_out" });
  expect(await signal(id)).toMatchObject({ kind: "too_late" });
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "timed_out" });
  expect(await read(id)).toMatchObject({ status: "running", attempts: 1 });
});

test("a time that is over stays over, though the clock is set back after the handler was told", async () => {
  const lease = await started();
  const { id } = lease;
  await park(deps, lease, "go", 60);
  await timeIsOver(id);
  const again = await take((await promoteDue(deps, 10))[0]?.id);
  expect(await park(deps, again, "go", 60)).toEqual({ kind: "timed_out" });
  await deps.database
    .sql`UPDATE atlasqueue.job_state SET until = now() + interval '1 hour' WHERE job_id = ${id} AND kind = 'wait'`;
  expect(await signal(id)).toMatchObject({ kind: "too_late" });
  expect(await park(deps, again, "go", 60)).toEqual({ kind: "timed_out" });
  expect(await read(id)).toMatchObject({ status: "running", waits_for: null });
});

test("a signal that came in time counts, although the job runs after its time", async () => {
  const [id = ""] = await add({});
  await park(deps, await take(id), "go", 60);
  await signal(id, "go", 1);
  await timeIsOver(id);
  expect(await park(deps, await take(id), "go", 60)).toEqual({ kind: "signalled", payload: 1 });
});

test("the time counts from the first time a job is parked, however early it was woken", async () => {
  const [id = ""] = await add({});
  const first = await park(deps, await take(id), "go", 60);
  await deps.database.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE id = ${id}`;
  await promoteDue(deps, 10);
  expect(await park(deps, await take(id), "go", 3_600)).toEqual(first);
});

test("a final job takes no signal", async () => {
  const lease = await started();
  await complete(deps, [{ lease, result: null }]);
  expect(await signal(lease.id)).toEqual({ kind: "finished", status: "succeeded" });
  expect(await deps.database.sql`SELECT FROM atlasqueue.job_state`).toEqual([]);
});
