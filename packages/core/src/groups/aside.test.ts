import { submission } from "@atlasqueue/testing";
import { beforeEach, expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { enqueue } from "../submit/enqueue.ts";
import { advanceAll } from "./advance-all.ts";
import { createAsideRound } from "./advance-aside.ts";
import { advanceGroups } from "./advance.ts";

const { deps } = engineHarness();

const small = { notes_max: 10, vain_max: 20 };
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${100 + at}`);

/** The first of each group has ended, in this order, and the second may go. Returns the seconds. */
async function goOn(groups: readonly string[], tenant = "default"): Promise<string[]> {
  const { sql } = deps.database;
  const pairs = groups.flatMap((group) => [group, group]);
  const jobs = pairs.map((group) => ({ ...submission({ group }), tenant }));
  const outcomes = await enqueue(deps, jobs, { idempotency_ttl_seconds: 60 });
  const ids = outcomes.map((one) => ("job" in one ? one.job.id : ""));
  const firsts = ids.filter((_, at) => at % 2 === 0);
  await sql`
    UPDATE jobs SET status = 'succeeded', finished_at = now(), ready_at = NULL, holds_group = NULL
    WHERE id = ANY(${`{${firsts.join(",")}}`}::uuid[])`;
  for (const group of groups) await sql`INSERT INTO group_handovers VALUES (${tenant}, 'default', ${group})`;
  return ids.filter((_, at) => at % 2 === 1);
}

/** Runs `work` while an open transaction has locked these jobs. */
const whileLocked = (ids: readonly string[], work: () => Promise<void>) =>
  deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM jobs WHERE id = ANY(${`{${ids.join(",")}}`}::uuid[]) FOR UPDATE`;
    await work();
  });
/** Of any tenant's jobs. */
const statuses = async (...ids: string[]) => {
  const rows = await deps.database.sql<{ id: string; status: string }[]>`
    SELECT id, status FROM jobs WHERE id = ANY(${`{${ids.join(",")}}`}::uuid[])`;
  return ids.map((id) => rows.find((row) => row.id === id)?.status);
};
const notesAside = async () => (await deps.database.sql`SELECT FROM group_handovers WHERE aside`).length;

let stuck: string[];
beforeEach(async () => void (stuck = await goOn(named("stuck", 60))));

test("a look tries no more notes than it is told, and sets those aside that fill it in vain", async () => {
  const [next = ""] = await goOn(["free"]);
  await whileLocked(stuck, async () => {
    expect(await advanceGroups(deps, 50)).toMatchObject({ handovers: 0, more: true, ready: [] });
    expect(await advanceGroups(deps, 50)).toMatchObject({
      handovers: 1,
      more: false,
      left: true,
      ready: [{ id: next }],
    });
    expect(await notesAside()).toBe(50);
  });
});

test("a few that cannot go on just now are left for the next look: somebody may be adding to their groups", async () => {
  await whileLocked(stuck.slice(0, 4), async () => {
    expect(await advanceGroups(deps, 10)).toMatchObject({ handovers: 6, more: true, later: [] });
    expect(await notesAside()).toBe(0);
  });
  await whileLocked(stuck.slice(10, 15), async () => {
    for (let look = 0; look < 2; look += 1) await advanceGroups(deps, 10);
    expect(await notesAside()).toBe(5);
  });
});

test("groups that are locked themselves, however many, hide none that may go on", async () => {
  const [next = ""] = await goOn(["free"]);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM job_groups WHERE group_key LIKE 'stuck-%' FOR UPDATE`;
    expect(await advanceAll(deps)).toMatchObject({ total: 1, left: true, more: false });
    expect(await statuses(next)).toEqual(["queued"]);
  });
  expect(await advanceAll(deps)).toMatchObject({ total: 60, left: false });
});

test("a new note is dealt with by the next look, however many were set aside", async () => {
  await whileLocked(stuck, async () => {
    for (let page = 0; page < 6; page += 1) await advanceGroups(deps, 10);
    const [next = ""] = await goOn(["free"]);
    expect(await advanceGroups(deps, 10)).toEqual({
      handovers: 1,
      more: false,
      later: [],
      left: false,
      ready: [expect.objectContaining({ id: next })],
    });
  });
});

test("until they are set aside, one tenant's stuck groups do not come before another's that can go on", async () => {
  const [other = ""] = await goOn(["other"], "other");
  await whileLocked(stuck, async () => {
    // All that are stuck are more pages than are looked at in one go.
    expect(await advanceAll(deps, 1)).toMatchObject({ total: 1, more: true });
    expect(await statuses(other)).toEqual(["queued"]);
  });
});

test("notes set aside are looked at in turn: one tenant's many do not keep another's waiting", async () => {
  const [other = ""] = await goOn(["other"], "other");
  await whileLocked([...stuck, other], async () => {
    for (let page = 0; page < 61; page += 1) await advanceGroups(deps, 1);
    expect(await notesAside()).toBe(61);
    await createAsideRound(deps, small)();
    expect(await statuses(other)).toEqual(["blocked"]);
  });
  await whileLocked(stuck, async () => {
    await createAsideRound(deps, small)();
    expect(await statuses(other)).toEqual(["queued"]);
  });
});

test("each look goes on where the last one ended, round and round", async () => {
  const free = stuck.at(-1) ?? "";
  const again = stuck.at(0) ?? "";
  const goRound = createAsideRound(deps, small);
  await whileLocked(stuck, async () => {
    for (let page = 0; page < 60; page += 1) await advanceGroups(deps, 1);
    await goRound();
  });
  await whileLocked(stuck.slice(1, -1), async () => {
    await goRound();
    expect(await statuses(again, free)).toEqual(["blocked", "blocked"]);
    await goRound();
    expect(await statuses(again, free)).toEqual(["blocked", "queued"]);
    await goRound();
    expect(await statuses(again, free)).toEqual(["queued", "queued"]);
  });
});

test("once they can go on, one sweep hands them all on", async () => {
  await whileLocked(stuck, async () => {
    for (let page = 0; page < 60; page += 1) await advanceGroups(deps, 1);
  });
  await createAsideRound(deps, small)();
  expect(new Set(await statuses(...stuck))).toEqual(new Set(["queued"]));
  expect(await deps.database.sql`SELECT FROM group_handovers`).toEqual([]);
});
