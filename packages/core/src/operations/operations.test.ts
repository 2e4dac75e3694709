import type { Actor } from "@atlasqueue/contract";
import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { engineHarness, tenant } from "../../test/engine-harness.ts";
import { nothingFollows } from "../../test/explorer/moves/move.ts";
import type { OperationRow } from "../database/schema/index.ts";
import { createFollowUps } from "../follow-ups.ts";
import { createSweeper } from "../maintenance/sweep/sweeper.ts";
import { createLogger } from "../observe/log.ts";
import { createOperation, previewOperation, type OperationWish } from "./create.ts";
import { findOperation } from "./find.ts";
import { createReplay } from "./create.ts";
import { steerOperation } from "./steer.ts";
import { stepOperation } from "./step.ts";

const { deps, recorded, add, addMany, besideStranger, take, die, status, statuses } = engineHarness();
beforeEach(() => deps.database.sql`TRUNCATE atlasqueue.operations`);

const anybody: Actor = { kind: "anybody", token_id: null, name: null };

const start = async (kind: OperationWish["kind"], filter: OperationWish["filter"] = {}, upper?: string) => {
  const row = await createOperation({ ...deps, followUps: nothingFollows }, { tenant, kind, filter, upper }, anybody);
  if (!row) throw new Error("too many");
  return row;
};
const look = async ({ id }: OperationRow) => (await findOperation(deps, tenant, id)) as OperationRow;
const step = (on = deps) => stepOperation(on, async () => {});
/** Pages until none is due, as if no time passed between them. */
const runOperation = async (): Promise<void> => {
  for (let pages = 0; pages < 50; pages += 1) {
    await deps.database.sql`UPDATE atlasqueue.operations SET next_at = least(next_at, now())`;
    if (!(await step())) return;
  }
  throw new Error("no end");
};
const counts = async () => {
  const rows = await deps.database.sql`SELECT status, count(*)::int AS count FROM atlasqueue.jobs GROUP BY status`;
  return Object.fromEntries(rows.map((row) => [String(row["status"]), Number(row["count"])]));
};

test("the first page of a cancellation stops the running jobs; each page says how far it has come", async () => {
  const [first, second] = await addMany(2);
  await take(first);
  await take(second);
  await addMany(1_300);
  const row = await start("cancel", { queue: "default" });
  expect(row).toMatchObject({ kind: "cancel", status: "running", total: 1_302, total_complete: true, done: 0 });
  await step();
  expect(await statuses(first, second)).toEqual(["cancelled", "cancelled"]);
  expect(await look(row)).toMatchObject({ status: "running", done: 502 });
  expect(await steerOperation(deps, tenant, row.id, "cancel", "replay")).toEqual({ kind: "unknown" });
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: 1_302, failed: 0 });
  expect(await counts()).toEqual({ cancelled: 1_302 });
});

test("jobs made after the start, or after the preview, are not meant, and nor are those of another tenant", async () => {
  await addMany(3);
  const [other] = await addMany(1);
  await deps.database.sql`UPDATE atlasqueue.jobs SET tenant = 'other' WHERE id = ${other ?? ""}`;
  const wish = { tenant, kind: "cancel", filter: { type: "noop" } } as const;
  const { upper, ...counted } = await previewOperation({ ...deps, followUps: nothingFollows }, wish);
  expect(counted).toEqual({ total: 3, total_complete: true });
  const [later] = await addMany(1);
  const row = await start("cancel", wish.filter, upper);
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", total: 3, done: 3 });
  const all = await start("cancel");
  const [latest] = await addMany(1);
  await runOperation();
  expect(await look(all)).toMatchObject({ done: 1 });
  expect(await statuses(later, latest)).toEqual(["cancelled", "queued"]);
  const [spared] = await deps.database.sql`SELECT status FROM atlasqueue.jobs WHERE id = ${other ?? ""}`;
  expect(spared?.["status"]).toBe("queued");
  const none = await start("cancel", { queue: "nothing" });
  await addMany(1, { queue: "nothing" });
  await runOperation();
  expect(await look(none)).toMatchObject({ status: "done", total: 0, done: 0 });
});

test("a retry makes stopped jobs ready in the order of their groups; a purge leaves running jobs", async () => {
  const ids = await add({ group: "a" }, { group: "a" }, { group: "b" }, {}, {});
  for (const id of ids.slice(3)) await die(id);
  await start("cancel");
  await runOperation();
  await deps.database.sql`TRUNCATE atlasqueue.job_groups`;
  const retry = await start("retry");
  await runOperation();
  expect(await look(retry)).toMatchObject({ status: "done", total: 5, done: 5, failed: 0 });
  expect(await statuses(...ids)).toEqual(["queued", "blocked", "queued", "queued", "queued"]);
  await take(ids[3]);
  const purge = await start("purge");
  await runOperation();
  expect(await look(purge)).toMatchObject({ status: "done", total: 4, done: 4 });
  expect(await counts()).toEqual({ running: 1 });
});

test("a locked job is looked at again, and counts as failed only if it is locked all the time", async () => {
  const ids = await addMany(10);
  const row = await start("cancel");
  await besideStranger([ids[4]], async () => {
    await step();
    expect(await look(row)).toMatchObject({ status: "running", done: 9, failed: 0 });
  });
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: 10, failed: 0 });
  const more = await addMany(10);
  const other = await start("cancel");
  await besideStranger([more[4]], async () => {
    await runOperation();
  });
  expect(await look(other)).toMatchObject({ status: "done", done: 9, failed: 1 });
});

test("processes that carry on at once do each page once, and a page takes one connection", async () => {
  await addMany(3_000);
  const row = await start("cancel");
  await Promise.all(
    Array.from({ length: deps.database.connections().max + 1 }, async () => {
      while ((await look(row)).status === "running") await step();
    }),
  );
  expect(await look(row)).toMatchObject({ status: "done", done: 3_000, failed: 0 });
  expect(recorded.events.filter(({ event }) => event === "job_cancelled")).toHaveLength(3_000);
});

test.each(["cancel", "retry", "delete", "purge", "replay"] as const)(
  "a process that dies at any step of a page of a %s loses nothing, and counts no job twice",
  { tags: ["slow"], timeout: 60_000 },
  async (kind) => {
    const prepare = async () => {
      await deps.database
        .sql`TRUNCATE atlasqueue.jobs, atlasqueue.operations, atlasqueue.job_groups, atlasqueue.job_attempts, atlasqueue.queue_counts, atlasqueue.queue_changes`;
      const ids = await add({}, {}, { group: "g" }, { group: "g" });
      if (kind === "replay") {
        for (const id of ids) await die(id);
        const replay = await createReplay(deps, { tenant, filter: { all: true }, patch: { patched: true } }, anybody);
        return replay as OperationRow;
      }
      if (kind === "retry" || kind === "delete") {
        await start("cancel");
        await runOperation();
        await deps.database.sql`TRUNCATE atlasqueue.job_groups`;
      }
      return start(kind);
    };
    await prepare();
    let steps = 0;
    await step({ ...deps, database: steppingDatabase(deps.database, () => void (steps += 1)) });
    expect(steps).toBeGreaterThan(3);
    for (let dies_at = 1; dies_at <= steps; dies_at += 1) {
      const row = await prepare();
      recorded.events.length = 0;
      let at = 0;
      const dying = steppingDatabase(deps.database, () => {
        if ((at += 1) === dies_at) throw new Error("the process died");
      });
      await step({ ...deps, database: dying }).catch(() => undefined);
      await runOperation();
      const { done, failed, total, status: end } = await look(row);
      expect({ dies_at, done, failed, total, end }).toEqual({ dies_at, done: 4, failed: 0, total: 4, end: "done" });
      const anew = { queued: 3, blocked: 1 };
      const becomes = { cancel: { cancelled: 4 }, retry: anew, replay: anew, delete: {}, purge: {} };
      expect(await counts()).toEqual(becomes[kind]);
    }
  },
);

test("a process carries on by itself: listeners hear of cancelled jobs, and dead letters leave the list", async () => {
  const followUps = createFollowUps(deps);
  const [running, dead] = await add({}, {});
  await take(running);
  await die(dead);
  await deps.signal.deadLetters.add([dead ?? ""]);
  const heard: string[] = [];
  const unsubscribe = deps.signal.notices.listen("cancelled", (ids) => heard.push(...ids));
  const stop = new AbortController();
  const loop = createSweeper({ ...deps, followUps, logger: createLogger("fatal", "test") }, stop.signal).run();
  onTestFinished(async () => {
    stop.abort();
    await loop;
    await followUps.stop();
    unsubscribe();
  });
  await start("cancel", { status: "running" });
  await start("delete", { status: "dead" });
  await eventually(() => expect(heard).toEqual([running]));
  await eventually(async () => expect(await deps.signal.deadLetters.look()).toHaveLength(0));
  expect(await status(running)).toBe("cancelled");
});
