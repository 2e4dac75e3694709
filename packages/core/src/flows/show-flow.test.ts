import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { page_bytes_max } from "../memory-budget/bytes.ts";
import { viewFlow, type FlowView } from "./show-flow.ts";

const { deps } = engineHarness();

const waiting = Array.from({ length: 60 }, (_, at) => `w${at}`);

/** A flow of one job for which 60 others wait, and which has in its time added many more for them to wait for. */
async function fatFlow(parents: number): Promise<string> {
  const members = Object.fromEntries(waiting.map((ref) => [ref, { after: ["first"] }]));
  const ids = await addFlow(deps, { first: {}, ...members });
  const { sql } = deps.database;
  const [row] = await sql<{ flow_id: string }[]>`SELECT flow_id FROM atlasqueue.jobs WHERE id = ${ids.first}`;
  // Half of them are stored compressed, and half as they are.
  await sql`ALTER TABLE atlasqueue.flow_jobs ALTER parents SET STORAGE EXTERNAL`;
  const fatten = (rest: number) => sql`
    UPDATE atlasqueue.flow_jobs SET parents = (
      SELECT json_agg(json_build_object('ref', id, 'id', id))
      FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, ${parents}::int + 0 * place)) AS one)
    WHERE flow_id = ${row?.flow_id ?? ""} AND place > 0 AND place % 2 = ${rest}`;
  await fatten(0);
  await sql`ALTER TABLE atlasqueue.flow_jobs ALTER parents SET STORAGE EXTENDED`;
  await fatten(1);
  return row?.flow_id ?? "";
}

test("a page of a flow whose jobs wait for very many is cut at its bytes, and goes on there", async () => {
  const id = await fatFlow(2_000);
  const seen: (string | null)[] = [];
  const pages: FlowView[] = [];
  for (let after: number | undefined = -1; after !== undefined && pages.length < 60;) {
    const page: FlowView | undefined = await viewFlow(deps, "default", id, after);
    if (!page) throw new Error("there is no such flow");
    pages.push(page);
    seen.push(...page.items.map(({ ref }) => ref));
    after = page.next;
  }
  const bytes = pages.map(({ items }) => Buffer.byteLength(JSON.stringify(items)));
  expect(Math.max(...bytes)).toBeLessThan(page_bytes_max);
  expect(seen).toEqual(["first", ...waiting]);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.length).toBeLessThan(6);
  expect(pages.every(({ jobs, critical_path }) => jobs === 61 && critical_path === null)).toBe(true);
});

test("one that fits is whole, with its critical path", async () => {
  const { first, last } = await addFlow(deps, { first: {}, last: { after: ["first"] } });
  const [row] = await deps.database.sql<{ flow_id: string }[]>`SELECT flow_id FROM atlasqueue.jobs WHERE id = ${first}`;
  const { items, next, critical_path } = (await viewFlow(deps, "default", row?.flow_id ?? "")) ?? {};
  expect(items?.map(({ id, depends_on }) => [id, depends_on])).toEqual([
    [first, []],
    [last, [first]],
  ]);
  expect([next, critical_path]).toEqual([undefined, [first, last]]);
});
