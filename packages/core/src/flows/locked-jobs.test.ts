import { expect, test } from "vitest";
import { addFlow, type Member } from "../../test/add-flow.ts";
import { advanceAndAdmit } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { uuidArray } from "../database/literals.ts";
import { cancel } from "../jobs/cancel.ts";
import { newFlowsCursor } from "./advance.ts";
import { closeEdges } from "./close-edges.ts";
import { releaseChildren } from "./release-children.ts";
import type { NotePlace } from "./notes-page.ts";

// Somebody's open transaction has locked very many jobs that are noted.

const { deps, statuses } = engineHarness();

/** Jobs that ended, and one that waits for each. The children's edges are closed, and they are noted, with `told`. */
async function addEnded(count: number, { told = false, tenant = "default" } = {}) {
  const each = Array.from({ length: count }, (_, at): [string, Member][] => [
    [`a${at}`, {}],
    [`b${at}`, { after: [`a${at}`], on_parent_failure: "run" }],
  ]);
  const ids = await addFlow<string>(deps, Object.fromEntries(each.flat()), tenant);
  const named = (name: "a" | "b") => each.map((_, at) => ids[`${name}${at}`] ?? "");
  for (const id of named("a")) await cancel(deps, tenant, id);
  if (told) await closeEdges(deps, 1_000);
  return { parents: named("a"), children: named("b") };
}

/** Copies of a job that waits for nothing any more, and their notes. */
async function copy(child: string, count: number, first = 1) {
  const { sql } = deps.database;
  const id = sql`('0001' || lpad(to_hex(n), 28, '0'))::uuid`;
  const copies = sql`generate_series(${first}::int, ${first + count - 1}::int) AS n`;
  await sql`
    INSERT INTO jobs (id, tenant, queue, type, status, priority, max_attempts, run_at, created_at, updated_at, payload, blocked_seq)
    SELECT ${id}, tenant, queue, type, status, priority, max_attempts, run_at, created_at, updated_at, payload, 0
    FROM jobs, ${copies} WHERE jobs.id = ${child}`;
  await sql`
    INSERT INTO flow_jobs (job_id, flow_id, place, on_parent_failure, parents)
    SELECT ${id}, flow_id, n, on_parent_failure, '[]' FROM flow_jobs, ${copies} WHERE job_id = ${child}`;
  const rows = await sql<{ job_id: string }[]>`
    INSERT INTO flow_notes (job_id, role, tenant) SELECT ${id}, 'child', 'default' FROM ${copies} RETURNING job_id`;
  return rows.map(({ job_id }) => job_id);
}

/** Runs `work` while an open transaction has locked these jobs. */
const whileLocked = (ids: readonly string[], work: () => Promise<void>) =>
  deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM jobs WHERE id = ANY(${uuidArray([...ids])}::uuid[]) FOR UPDATE`;
    await work();
  });

/** Of any tenant's job. */
const statusOf = async (id = "") =>
  (await deps.database.sql`SELECT status FROM jobs WHERE id = ${id}`)[0]?.status as string;

test("a look tries no more children than it is told, and the next goes on behind them", async () => {
  const stuck = await addEnded(60, { told: true });
  const { children } = await addEnded(1, { told: true });
  await whileLocked(stuck.children, async () => {
    const first = await releaseChildren(deps, 50);
    expect(first).toMatchObject({ notes: 0, in_vain: 50, left: true, ready: [] });
    const second = await releaseChildren(deps, 50, first.reached);
    expect(second).toMatchObject({ notes: 1, in_vain: 10, ready: [{ id: children[0] }], reached: [] });
  });
});

test("so does a look at parents", async () => {
  const stuck = await addEnded(60);
  await addEnded(1);
  await whileLocked(stuck.parents, async () => {
    const first = await closeEdges(deps, 50);
    expect(first).toMatchObject({ notes: 0, edges: 0, in_vain: 50, left: true });
    const second = await closeEdges(deps, 50, first.reached);
    expect(second).toMatchObject({ notes: 1, edges: 1, in_vain: 10, reached: [] });
  });
});

test("after the last one the looks start over: what is locked no more is released", async () => {
  const { children } = await addEnded(30, { told: true });
  let reached: NotePlace[] = [];
  const look = async () => ({ reached } = await releaseChildren(deps, 20, reached));
  await whileLocked(children, async () => {
    await look();
    await look();
  });
  await look();
  await look();
  expect(new Set(await statuses(...children))).toEqual(new Set(["queued"]));
  expect(await deps.database.sql`SELECT FROM flow_notes`).toEqual([]);
});

test("notes that come during a round do not make it longer", async () => {
  const { children } = await addEnded(1, { told: true });
  const [child = ""] = children;
  const stuck = await copy(child, 300);
  await whileLocked([child, ...stuck], async () => {
    const first = await releaseChildren(deps, 200);
    await copy(child, 900, 301);
    expect(first.reached).toHaveLength(1);
    expect(await releaseChildren(deps, 600, first.reached)).toMatchObject({ notes: 499, in_vain: 101, reached: [] });
  });
});

test("one tenant's locked jobs, however many, do not keep another's child waiting", async () => {
  const told = await addEnded(30, { told: true });
  const stuck = await addEnded(30);
  await whileLocked([...stuck.parents, ...told.children], async () => {
    const { children } = await addEnded(1, { tenant: "other" });
    expect(await closeEdges(deps, 10)).toMatchObject({ notes: 1, in_vain: 5 });
    expect(await releaseChildren(deps, 10)).toMatchObject({ notes: 1, in_vain: 5, ready: [{ id: children[0] }] });
  });
});

test("of very many, a pass tries some, and the next goes on from there", async () => {
  const first = await addEnded(1, { told: true });
  const stuck = await copy(first.children[0] ?? "", 3_000);
  const last = await addEnded(1);
  const cursor = newFlowsCursor();
  await whileLocked(stuck, async () => {
    const other = await addEnded(1, { tenant: "other" });
    expect(await advanceAndAdmit(deps, cursor)).toEqual({ more: false, left: true });
    const [mine, others] = [last.children[0], other.children[0]];
    expect([await statusOf(mine), await statusOf(others)]).toEqual(["blocked", "queued"]);
    await advanceAndAdmit(deps, cursor);
    expect(await statusOf(mine)).toBe("queued");
  });
});
