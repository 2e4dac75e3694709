import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
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

test("jobs beneath a long history are found by an index, and counted anywhere", { tags: ["slow"] }, async () => {
  await addHistory(200_001);
  await addMany(2);
  const [old, older] = ["00000000-0000-7000-8000-000000000000", "00000000-0000-7000-7000-000000000000"];
  const [first, second] = await deps.database.sql<
    { id: string }[]
  >`SELECT id FROM atlasqueue.jobs WHERE status = 'queued'`;
  await deps.database.sql`UPDATE atlasqueue.jobs SET id = ${old} WHERE id = ${first?.id ?? ""}`;
  await deps.database.sql`UPDATE atlasqueue.jobs SET id = ${older} WHERE id = ${second?.id ?? ""}`;
  expect(await ids({ statuses: ["queued"] }, 10, 0)).toEqual({ ids: [old, older], total: 2 });
  await cancel(deps, "default", old);
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

test("jobs waiting behind another of their group are found beneath a long history, too", async () => {
  await addHistory(200_001);
  await addMany(1, { group: "g" });
  const [blocked = ""] = await addMany(1, { group: "g" });
  await deps.database.sql`UPDATE atlasqueue.jobs SET id = '00000000-0000-7000-8000-000000000000' WHERE id = ${blocked}`;
  expect((await ids({ statuses: ["queued", "blocked"] }, 10, 1)).ids).toEqual(["00000000-0000-7000-8000-000000000000"]);
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
