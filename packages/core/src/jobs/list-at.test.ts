import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { rowsRead } from "../../test/rows-read.ts";
import type { Deps } from "../deps.ts";
import { cancel } from "./cancel.ts";
import { claimReady } from "../lease/claim.ts";
import { listJobsAt, type JobsFilter } from "./list-at.ts";
import { oldestWaiting } from "../queues/oldest-waiting.ts";

const { deps, addMany } = engineHarness();

/** Finished jobs inserted without the transitions, older than all that are added. */
const addHistory = async (count: number) => {
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload)
    SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'noop', 'succeeded', now(), now(), now(), now(), '{}'
    FROM generate_series(1, ${count}::int) AS n`;
  await deps.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) VALUES ('default', 'default', ${count})`;
};
const ids = async (filter: JobsFilter, limit: number, offset: number) => {
  const { rows, total } = await listJobsAt(deps, "default", filter, { limit, offset });
  return { ids: rows.map(({ id }) => id), total };
};

test("any status, some, or one; any queue or one: newest first from the offset, and how many there are", async () => {
  const [first = "", second = ""] = await addMany(2);
  const [later = ""] = await addMany(1, { delay_seconds: 60 });
  const [mail = ""] = await addMany(1, { queue: "mail" });
  await cancel(deps, "default", first);
  expect(await ids({}, 2, 1)).toEqual({ ids: [later, second], total: 4 });
  expect(await ids({ statuses: ["queued", "scheduled"] }, 10, 0)).toEqual({ ids: [mail, later, second], total: 3 });
  expect(await ids({ statuses: ["queued", "scheduled"] }, 1, 2)).toEqual({ ids: [second], total: 3 });
  expect(await ids({ statuses: ["cancelled"] }, 10, 0)).toEqual({ ids: [first], total: 1 });
  expect(await ids({ statuses: ["cancelled"], queue: "mail" }, 10, 0)).toEqual({ ids: [], total: 0 });
  expect(await ids({ queue: "mail" }, 10, 0)).toEqual({ ids: [mail], total: 1 });
});

test("jobs beneath a long history are found by an index, and counted", async () => {
  await addHistory(20_000);
  const [cancelled = "", leading = "", blocked = ""] = await addMany(3, { group: "g" });
  const beneath = [cancelled, leading, blocked].map((_, at) => `00000000-0000-7000-7000-00000000000${9 - at}`);
  for (const [at, id] of [cancelled, leading, blocked].entries())
    await deps.database.sql`UPDATE atlasqueue.jobs SET id = ${beneath[at] ?? ""} WHERE id = ${id}`;
  await deps.database.sql`ANALYZE atlasqueue.jobs`;
  const wanted: JobsFilter = { statuses: ["queued", "blocked"] };
  expect(await ids(wanted, 10, 0)).toEqual({ ids: beneath, total: 3 });
  expect((await ids(wanted, 10, 1)).ids).toEqual(beneath.slice(1));
  const look = (on: Pick<Deps, "database">) => listJobsAt(on, "default", wanted, { limit: 10, offset: 0 });
  expect(await rowsRead(deps.database, look, "jobs")).toBeLessThan(5_000);
  await cancel(deps, "default", beneath[0] ?? "");
  expect((await ids({ statuses: ["cancelled"] }, 10, 0)).total).toBe(1);
});

test("a page continues where a stretch ends, and its offset counts across stretches", async () => {
  await addHistory(45_000);
  const newest = await addMany(3);
  const wanted: JobsFilter = { statuses: ["succeeded"] };
  const all = await deps.database.sql<
    { id: string }[]
  >`SELECT id FROM atlasqueue.jobs WHERE status = 'succeeded' ORDER BY id DESC`;
  const page = (offset: number) => all.slice(offset, offset + 200).map(({ id }) => id);
  for (const offset of [0, 19_900, 20_000, 39_950, 44_900])
    expect(await ids(wanted, 200, offset)).toEqual({ ids: page(offset), total: 45_000 });
  expect((await ids({}, 3, 0)).ids).toEqual(newest.toReversed());
});

test("running jobs are found by their leases", async () => {
  await addMany(3);
  const leases = await claimReady(deps, 2, {
    tenant: "default",
    queues: ["default"],
    worker_id: "w",
    lease_seconds: 30,
  });
  const running = leases.map(({ id }) => id).toSorted();
  expect(await ids({ statuses: ["running"] }, 10, 0)).toEqual({ ids: running.toReversed(), total: 2 });
});

test("the oldest waiting job of each queue is known by its creation time", async () => {
  const [first = ""] = await addMany(1, { delay_seconds: 60 });
  await addMany(2);
  await addMany(1, { queue: "mail" });
  await addMany(2, { queue: "grouped", group: "g" });
  await deps.database
    .sql`UPDATE atlasqueue.jobs SET created_at = created_at - interval '2 hours' WHERE status = 'blocked'`;
  await deps.database.sql`UPDATE atlasqueue.jobs SET created_at = created_at - interval '1 hour' WHERE id = ${first}`;
  const rows = await deps.database.sql<
    { queue: string; created_at: Date }[]
  >`SELECT queue, created_at FROM atlasqueue.jobs`;
  const oldest = (queue: string) =>
    new Date(Math.min(...rows.filter((row) => row.queue === queue).map((row) => row.created_at.getTime())));
  const since = await oldestWaiting(deps, "default", ["default", "grouped", "mail", "nobody's"]);
  expect([...since].toSorted()).toEqual([
    ["default", oldest("default")],
    ["grouped", oldest("grouped")],
    ["mail", oldest("mail")],
  ]);
  expect((await oldestWaiting(deps, "acme", ["default"])).size).toBe(0);
});
