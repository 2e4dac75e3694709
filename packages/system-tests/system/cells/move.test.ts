import { setLimits } from "@atlasqueue/core/internal";
import { CellError, moveTenant, placeTenant, readPlace, type MoveStep } from "@atlasqueue/core/internal/tools";
import { eventually } from "@atlasqueue/harness";
import { defineHandler } from "@atlasqueue/worker";
import { expect, test } from "vitest";
import { z } from "zod";
import { expectTrueCounts, queueOf, rowsOf, tenant, twoCells, workOn, type TestCell } from "./two-cells.ts";

/** No API has a map here, and no process figures in memory. */
const quick = { quiet_ms: 0 };
const unlimited = { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null };

/** A tenant with a job of each kind: dead, failed, succeeded, ready, scheduled, waiting. */
async function fill(cell: TestCell) {
  const queue = queueOf(cell);
  const fails = defineHandler("fails", z.looseObject({}), async (_payload, { step }) => {
    await step("once", async () => "kept");
    throw new Error("no");
  });
  const works = defineHandler("works", z.looseObject({}), async () => "worked");
  const worker = workOn(cell, [fails, works]);
  const early = await queue.submitMany([
    { type: "fails", max_attempts: 1 },
    { type: "fails", max_attempts: 3 },
    { type: "works", idempotency_key: "early", unique: { key: "early", scope: "window", window_seconds: 3_600 } },
  ]);
  const statuses = async () =>
    (await cell.database.sql.unsafe<{ status: string }[]>(`SELECT status FROM ${cell.name}.jobs ORDER BY id`)).map(
      ({ status }) => status,
    );
  await eventually(async () => expect(await statuses()).toEqual(["dead", "failed", "succeeded"]));
  await worker.stop();
  const limited = { tenant, queue: "limited" };
  await setLimits({ database: cell.database, observe: () => {} }, limited, { ...unlimited, concurrency: 1 });
  const late = await queue.submitMany([
    { type: "plain", idempotency_key: "plain-1", tags: ["blue", "null"], priority: 3 },
    { type: "plain", unique: { key: "one" } },
    { type: "plain", delay_seconds: 3_600 },
    { type: "plain", queue: "limited" },
    { type: "plain", queue: "limited" },
    ...[1, 2, 3, 4, 5].map((n) => ({ type: "grouped", group: "g", payload: { n } })),
  ]);
  const flow = await queue.submitFlow({
    jobs: [
      { type: "plain", ref: "a" },
      { type: "plain", depends_on: ["a"] },
    ],
  });
  await queue.schedules.put({ name: "hourly", cron: "0 * * * *", timezone: "UTC", job: { type: "plain" } });
  // With the figures that it keeps in memory.
  await queue.close();
  return { ids: [...early, ...late, ...flow.jobs].map(({ id }) => id) };
}

/** Runs all that is ready there. Resolves with the ids in their order, once there are so many. */
async function runAll(cell: TestCell, count: number): Promise<{ ids: string[]; places: number[] }> {
  const ran: string[] = [];
  const places: number[] = [];
  const note = (type: string) =>
    defineHandler(type, z.looseObject({ n: z.number().optional() }), async ({ n }, { job }) => {
      ran.push(job.id);
      if (n !== undefined) places.push(n);
    });
  const worker = workOn(cell, [note("plain"), note("grouped")], { queues: ["default", "limited"] });
  await eventually(() => expect(ran).toHaveLength(count));
  await worker.stop();
  return { ids: ran, places };
}

const listed = ({ signal }: TestCell) => signal.deadLetters.page(0, 10);

test("a tenant's jobs move to another cell with their ids, keys and order, and run there", async () => {
  const cells = await twoCells();
  const [home, east] = cells;
  const { ids } = await fill(home);
  const stranger = queueOf(home, "stranger");
  await stranger.submit({ type: "plain" });
  await stranger.close();
  const before = await rowsOf(home);
  const theirs = await rowsOf(home, "stranger");
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(["jobs", "job_attempts", "job_state", "flow_edges", "schedules"]),
  );

  expect(await moveTenant(cells, tenant, "east", quick)).toEqual({ collected: 0, left: 0 });
  expect(await readPlace(cells, tenant)).toMatchObject({ cell: "east", moving_to: null });
  expect([await rowsOf(east), await rowsOf(home), await rowsOf(home, "stranger")]).toEqual([before, {}, theirs]);
  expect([await listed(east), await listed(home)]).toEqual([[ids[0]], []]);
  await expectTrueCounts(home, east);

  const queue = queueOf(east);
  const again = { type: "plain", idempotency_key: "plain-1", tags: ["blue", "null"], priority: 3 };
  expect(await queue.submit(again)).toMatchObject({ id: ids[3], created: false });
  expect(
    await queue.submit({ type: "works", unique: { key: "early", scope: "window", window_seconds: 3_600 } }),
  ).toMatchObject({ id: ids[2] });
  const ran = await runAll(east, 11);
  expect(ran.ids.toSorted()).toEqual(ids.filter((_, at) => at > 2 && at !== 5).toSorted());
  expect(ran.places).toEqual([1, 2, 3, 4, 5]);
  await expectTrueCounts(home, east);
});

/** Before and after the tenant's place changes; the others at night. */
const steps: MoveStep[] = ["copied", "switched"];
const others: MoveStep[] = ["idle", "refused", "still", "cleared", "released"];
const interruption = "a move that was interrupted when it was %s goes on or back";

test.each(steps)(interruption, (at) => interruptMove(at));
test.each(others)(interruption, { tags: ["nightly"] }, (at) => interruptMove(at));

async function interruptMove(at: MoveStep): Promise<void> {
  const cells = await twoCells();
  const [home, east] = cells;
  await fill(home);
  const before = await rowsOf(home);
  const interrupted = async (name: string) => {
    const onStep = (step: MoveStep) => {
      if (step === at) throw new Error("interrupted");
    };
    await expect(moveTenant(cells, tenant, name, { ...quick, onStep })).rejects.toThrow("interrupted");
    expect((await readPlace(cells, tenant)).moving_to === null).toBe(at === "idle");
  };
  await interrupted("east");
  await moveTenant(cells, tenant, "home", quick);
  expect([await rowsOf(home), await rowsOf(east)]).toEqual([before, {}]);
  await interrupted("east");
  // Once switched, it does not switch again.
  if (at !== "switched") await interrupted("east");
  await moveTenant(cells, tenant, "east", quick);
  expect([await rowsOf(home), await rowsOf(east)]).toEqual([{}, before]);
  expect(await readPlace(cells, tenant)).toMatchObject({ cell: "east", moving_to: null });
  await expectTrueCounts(home, east);
}

test("jobs that callers submit in their own transactions in the old cell are collected", async () => {
  const cells = await twoCells();
  const [home, east] = cells;
  const { ids } = await fill(home);
  const queue = queueOf(home);
  const inside = async (key: string) => {
    let commit = () => {};
    const held = new Promise<void>((resolve) => (commit = resolve));
    const submitted = Promise.withResolvers<string[]>();
    const done = home.database.sql.begin(async (sql) => {
      const job = await queue.submitIn(sql, { type: "grouped", group: "g", idempotency_key: key, payload: { n: 6 } });
      const flow = await queue.submitFlowIn(sql, {
        jobs: [
          { type: "plain", ref: "a" },
          { type: "plain", depends_on: ["a"] },
        ],
      });
      submitted.resolve([job.id, ...flow.map(({ id }) => id)]);
      await held;
    });
    return { ids: await submitted.promise, commit: () => (commit(), done) };
  };
  let late: Awaited<ReturnType<typeof inside>> | undefined;
  const onStep = async (step: MoveStep) => {
    if (step === "still") late = await inside("late");
    if (step === "copied") await late?.commit();
  };
  expect(await moveTenant(cells, tenant, "east", { ...quick, onStep })).toEqual({ collected: 3, left: 0 });
  const last = await inside("last");
  await last.commit();
  expect(await moveTenant(cells, tenant, "east", quick)).toEqual({ collected: 3, left: 0 });
  expect(await rowsOf(home)).toEqual({});
  const { ids: ran, places } = await runAll(east, 17);
  expect(ran.toSorted()).toEqual(
    [...ids.filter((_, at) => at > 2 && at !== 5), ...(late?.ids ?? []), ...last.ids].toSorted(),
  );
  expect(places).toEqual([1, 2, 3, 4, 5, 6, 6]);
  await expectTrueCounts(home, east);
});

test("running jobs end before a tenant moves, and one that takes too long keeps it where it is", async () => {
  const cells = await twoCells();
  const [home] = cells;
  const queue = queueOf(home);
  const finish = Promise.withResolvers<void>();
  const started: string[] = [];
  const waits = defineHandler("waits", z.looseObject({}), async (_payload, { job }) => {
    started.push(job.id);
    await finish.promise;
  });
  workOn(home, [waits], { concurrency: 1 });
  await queue.submitMany([{ type: "waits" }, { type: "waits" }]);
  await eventually(() => expect(started).toHaveLength(1));
  await expect(moveTenant(cells, tenant, "east", { ...quick, running_ms_max: 0 })).rejects.toThrow(
    "1 jobs of acme still run",
  );
  expect(await readPlace(cells, tenant)).toMatchObject({ cell: "home", moving_to: null });
  const moved = moveTenant(cells, tenant, "east", quick);
  const held = () => home.database.sql`SELECT FROM home.queues WHERE paused_at < now() - interval '1 year'`;
  await eventually(async () => expect(await held()).toHaveLength(1));
  await expect(moveTenant(cells, tenant, "east", quick)).rejects.toThrow("another move");
  finish.resolve();
  await moved;
  expect(started).toHaveLength(1);
  const statuses = cells[1].database.sql<{ status: string }[]>`SELECT status FROM east.jobs ORDER BY id`;
  expect((await statuses).map(({ status }) => status).toSorted()).toEqual(["queued", "succeeded"]);
});

test("rows that come faster than they are written are copied whole", async () => {
  const cells = await twoCells();
  const payload = { text: "x".repeat(4_000) };
  const jobs = Array.from({ length: 500 }, () => ({ type: "plain", delay_seconds: 3_600, payload }));
  const queue = queueOf(cells[0]);
  await queue.submitMany(jobs);
  await queue.close();
  const before = await rowsOf(cells[0]);
  await moveTenant(cells, tenant, "east", quick);
  expect(await rowsOf(cells[1])).toEqual(before);
});

test("a new tenant goes to the emptiest cell, or where it is told", async () => {
  const cells = await twoCells();
  expect([(await placeTenant(cells, "a")).name, (await placeTenant(cells, "b")).name]).toEqual(["east", "home"]);
  expect((await placeTenant(cells, "a", "home")).name).toBe("home");
  await queueOf(cells[0], "b").submit({ type: "plain" });
  await expect(placeTenant(cells, "b", "east")).rejects.toThrow(CellError);
  await expect(placeTenant(cells, "c", "west")).rejects.toThrow('there is no cell "west"; the cells are home, east');
});
