import { expect, test } from "vitest";
import { engineHarness, tenant } from "../../test/engine-harness.ts";
import { nothingFollows } from "../../test/explorer/moves/move.ts";
import { rowsRead } from "../../test/rows-read.ts";
import { countDead, deadByNow } from "../dead-letters/count.ts";
import { purge } from "../dead-letters/bulk.ts";
import { replay } from "../dead-letters/replay.ts";
import { claim } from "../lease/claim.ts";
import { previewOperation } from "../operations/create.ts";
import { bulkJobs } from "./bulk.ts";
import { findJobByKey } from "./find.ts";
import { listJobs } from "./list.ts";
import { showJob } from "./show.ts";

const { deps, add, addMany, take, finish, die, read, statuses } = engineHarness();
const bulk = { ...deps, followUps: nothingFollows };
const tagged = async (tag: string, filter: object = {}, of = tenant) =>
  (await listJobs(deps, of, { tag, ...filter }, 50, undefined)).rows.map(({ id }) => id);

test("tags are shown in their order; a job without any has null", async () => {
  const tags = ["null", "b", "a:1", "A-Z_0.9"];
  const [some, none] = await add({ tags }, {});
  const [one, other] = await Promise.all([read(some), read(none)]);
  expect(one && showJob(one).tags).toEqual(tags);
  expect(other && showJob(other).tags).toBeNull();
  const whole = await claim(deps, [some ?? ""], {
    tenant,
    queues: ["default"],
    worker_id: "w",
    lease_seconds: 30,
    whole: true,
  });
  expect(whole[0]?.payload).toMatchObject({ tags });
});

test("a list by tag has the tenant's jobs in every status, with its other filters", async () => {
  const [queued, running, done, other] = await add(
    { tags: ["a", "b"] },
    { tags: ["a"] },
    { tags: ["a"] },
    { tags: ["b"] },
  );
  await take(running);
  await finish(done);
  await deps.database.sql`UPDATE atlasqueue.jobs SET tenant = 'another' WHERE id = ${other ?? ""}`;
  expect(await tagged("a")).toEqual([done, running, queued]);
  expect(await tagged("a", { status: "running" })).toEqual([running]);
  expect(await tagged("b")).toEqual([queued]);
  expect(await tagged("b", {}, "another")).toEqual([other]);
  expect(await tagged("c")).toEqual([]);
  await deps.database
    .sql`INSERT INTO atlasqueue.idempotency_keys VALUES (${tenant}, 'k', '', ${queued ?? ""}, now() + interval '1 h')`;
  expect([
    (await findJobByKey(deps, tenant, "k", { tag: "b" }))?.id,
    await findJobByKey(deps, tenant, "k", { tag: "c" }),
  ]).toEqual([queued, undefined]);
});

test("few jobs with a tag are found in the index of tags, page by page, however many came after them", async () => {
  const old = await addMany(5, { tags: ["rare"] });
  for (let count = 0; count < 8; count += 1) await addMany(1_000);
  await deps.database.sql`ANALYZE atlasqueue.jobs`;
  const first = await listJobs(deps, tenant, { tag: "rare" }, 3, undefined);
  const second = await listJobs(deps, tenant, { tag: "rare" }, 3, first.next);
  expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(old.toReversed());
  expect(second.next).toBeUndefined();
  const rows = await rowsRead(
    deps.database,
    (those) => listJobs(those, tenant, { tag: "rare" }, 50, undefined),
    "jobs",
  );
  expect(rows).toBeLessThan(3_000);
});

test("jobs with a tag are counted and cancelled, and dead letters with it replayed and purged", async () => {
  const [open, dead, other, kept] = await add({ tags: ["a"] }, { tags: ["a", "b"] }, { tags: ["b"] }, {});
  const all = { dry_run: false };
  const wish = { tenant, kind: "cancel" as const, filter: { tag: "a" } };
  expect(await previewOperation({ ...bulk, ...deps }, wish)).toMatchObject({ total: 2, total_complete: true });
  for (const id of [dead, other]) await die(id);
  expect(await bulkJobs({ ...bulk, ...deps }, tenant, "cancel", { tag: "a" }, all)).toMatchObject({ changed: 1 });
  const page = async (tag: string) => {
    const found = await deadByNow(deps, { tenant, tag });
    if (!found) throw new Error("there is no page");
    return found;
  };
  expect(await countDead(deps, await page("b"), Infinity)).toEqual({ count: 2, complete: true });
  expect(await replay(deps, await page("a"))).toMatchObject({ ids: [dead] });
  expect(await purge(deps, await page("b"))).toMatchObject({ ids: [other] });
  expect(await statuses(open, dead, other, kept)).toEqual(["cancelled", "queued", undefined, "queued"]);
});
