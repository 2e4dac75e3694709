import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { advanceAndAdmit, closeEdges } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { rowsRead } from "../../test/rows-read.ts";
import { executeOn } from "../database/statement.ts";
import { retry } from "../jobs/retry.ts";
import { drainPage, type Handler } from "../outbox/drain-page.ts";
import { closeEdges as handle } from "./close-edges.ts";

// Jobs for which very many wait. What these are themselves does not matter here: they have edges, and nothing else.

const { deps, finish, die, statuses } = engineHarness();

const many = 9_000;
/** Their ids come before those of jobs that exist. */
const addEdges = (parent: string, on_parent_failure: string, failed = false) => deps.database.sql`
  INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure, failed)
  SELECT 'default', ${parent}, ('0001' || lpad(to_hex(n), 28, '0'))::uuid, ${on_parent_failure}, ${failed}
  FROM generate_series(1, ${many}) AS n`;
const marked = async () => (await deps.database.sql`SELECT FROM atlasqueue.flow_edges WHERE failed`).length;
const advance = () => advanceAndAdmit(deps);
/** Of edges, in a page of a parent. */
const read = (key: string) =>
  rowsRead(
    deps.database,
    ({ database }) =>
      handle(executeOn(database), [
        { id: "1", kind: "parent_ended", version: 1, tenant: "default", key, lane: null, payload: null },
      ]),
    "flow_edges",
  );
const notes = async () => (await deps.database.sql`SELECT FROM atlasqueue.outbox`).length;

test.each([
  { edges: "wait for its replay", policy: "wait", failed: false },
  { edges: "are marked already", policy: "cancel", failed: true },
])("a look at a parent of which very many children $edges reads a part of them", async ({ policy, failed }) => {
  const { a, stops, runs } = await addFlow(deps, {
    a: {},
    stops: { after: ["a"] },
    runs: { after: ["a"], on_parent_failure: "run" },
  });
  await addEdges(a, policy, failed);
  await deps.database.sql.unsafe("VACUUM ANALYZE atlasqueue.flow_edges");
  await die(a);
  expect(await read(a)).toBeLessThan(many);
  await advance();
  expect(await statuses(stops, runs)).toEqual(["cancelled", "queued"]);
  expect(await notes()).toBe(0);
});

test("a job that started anew, and whose children are as they should be, is looked at in parts too", async () => {
  const { a, stops } = await addFlow(deps, { a: {}, stops: { after: ["a"] } });
  await addEdges(a, "cancel");
  await deps.database.sql`UPDATE atlasqueue.flow_edges SET failed = true WHERE child = ${stops}`;
  await deps.database.sql`INSERT INTO atlasqueue.outbox (kind, tenant, key) VALUES ('parent_ended', 'default', ${a})`;
  await deps.database.sql.unsafe("VACUUM ANALYZE atlasqueue.flow_edges");
  expect(await read(a)).toBeLessThan(many);
  await advance();
  expect([await marked(), await notes()]).toEqual([0, 0]);
});

test("others' children are released while the edges of one parent are gone through", async () => {
  const { a, x, y } = await addFlow(deps, {
    a: {},
    waits: { after: ["a"], on_parent_failure: "wait" },
    x: {},
    y: { after: ["x"] },
  });
  await addEdges(a, "wait");
  await die(a);
  await finish(x);
  expect((await closeEdges(deps, 500)).rows).toBe(2);
  expect(await deps.database.sql`SELECT kind FROM atlasqueue.outbox ORDER BY kind`).toEqual([
    { kind: "parent_ended" },
    { kind: "recheck_child" },
  ]);
  await advance();
  expect(await statuses(y)).toEqual(["queued"]);
});

test("a parent that starts anew while its edges are gone through is looked at from the start afterwards", async () => {
  const { a } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await addEdges(a, "cancel");
  await die(a);
  for (let look = 0; look < 3; look += 1) await closeEdges(deps, 500);
  expect(await marked()).toBe(1_500);
  await retry(deps, "default", a);
  await advance();
  expect([await marked(), await notes()]).toEqual([0, 0]);
});

test("a parent that starts anew is announced once it is locked no more, and one that ended is not", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: {}, c: { after: ["a", "b"], on_parent_failure: "wait" } });
  for (const id of [a, b]) await die(id);
  await retry(deps, "default", a);
  const announced: unknown[] = [];
  const announce = async (parents: readonly unknown[]) => announced.push(...parents);
  const announcing: Handler = (execute, rows) => handle(execute, rows, announce);
  expect((await drainPage(deps, { parent_ended: { version: 1, handle: announcing } }, 500)).rows).toBe(3);
  expect(announced).toMatchObject([{ id: a, tenant: "default", queue: "default", priority: 0 }]);
});

test("an edge that is locked when its turn comes is closed when its row starts over", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await addEdges(a, "cancel");
  await finish(a);
  const open = async () => (await deps.database.sql`SELECT FROM atlasqueue.flow_edges`).length;
  await deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.flow_edges WHERE parent = ${a} ORDER BY child LIMIT 1 FOR UPDATE`;
    for (let look = 0; (await open()) > 1 && look < many / 100; look += 1) await closeEdges(deps, 500);
    expect(await open()).toBe(1);
    await advanceAndAdmit(deps);
    expect(await statuses(b)).toEqual(["queued"]);
  });
  expect(await deps.database.sql`UPDATE atlasqueue.outbox SET not_before = '-infinity' RETURNING kind`).toEqual([
    { kind: "parent_ended" },
  ]);
  await advance();
  expect([await open(), await notes()]).toEqual([0, 0]);
});
