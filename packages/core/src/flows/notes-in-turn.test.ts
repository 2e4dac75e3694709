import { closeEdges, releaseChildren } from "../../test/advance.ts";
import { expect, test } from "vitest";
import { addFlow, type Member } from "../../test/add-flow.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { cancel } from "../jobs/cancel.ts";

const { deps } = engineHarness();

/** Pairs of a job and one that waits for it. */
const pairs = (count: number): Record<string, Member> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      [`a${at}`, {}],
      [`b${at}`, { after: [`a${at}`], on_parent_failure: "run" }],
    ]).flat() as [string, Member][],
  );

test("a tenant of which very many jobs ended does not keep another's children waiting", async () => {
  const many = await addFlow<string>(deps, pairs(60));
  for (let at = 0; at < 60; at += 1) await cancel(deps, "default", many[`a${at}`] ?? "");
  const { x, y } = await addFlow(deps, { x: {}, y: { after: ["x"], on_parent_failure: "run" } }, "other");
  await cancel(deps, "other", x);
  expect((await closeEdges(deps, 10)).rows).toBe(6);
  expect((await releaseChildren(deps, 10)).ready.map(({ id }) => id)).toContain(y);
});

test("nor does one with very many children that have been told", async () => {
  const { sql } = deps.database;
  const many = await addFlow<string>(deps, pairs(60));
  for (let at = 0; at < 60; at += 1) await cancel(deps, "default", many[`a${at}`] ?? "");
  await closeEdges(deps, 500);
  const { x, y } = await addFlow(deps, { x: {}, y: { after: ["x"], on_parent_failure: "run" } }, "other");
  await cancel(deps, "other", x);
  await closeEdges(deps, 500);
  expect(await sql`SELECT FROM atlasqueue.outbox WHERE kind = 'recheck_child'`).toHaveLength(61);
  const { ready } = await releaseChildren(deps, 10);
  expect(ready.map(({ id }) => id)).toContain(y);
  expect(ready).toHaveLength(6);
});

test("the edges of a page are shared among tenants, however many parents one of them has there", async () => {
  const children = Array.from({ length: 300 }, (_, at): [string, Member] => [`c${at}`, { after: ["x"] }]);
  const many = await addFlow<string>(deps, pairs(60));
  for (let at = 0; at < 60; at += 1) await cancel(deps, "default", many[`a${at}`] ?? "");
  const { x = "" } = await addFlow<string>(deps, { x: {}, ...Object.fromEntries(children) }, "other");
  await cancel(deps, "other", x);
  await closeEdges(deps, 500);
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_edges WHERE NOT failed`).toHaveLength(50);
});
