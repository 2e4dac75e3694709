import { closeEdges } from "../../test/advance.ts";
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

test("the edges of a page are shared among tenants, however many parents one of them has there", async () => {
  const children = Array.from({ length: 300 }, (_, at): [string, Member] => [`c${at}`, { after: ["x"] }]);
  const many = await addFlow<string>(deps, pairs(60));
  for (let at = 0; at < 60; at += 1) await cancel(deps, "default", many[`a${at}`] ?? "");
  const { x = "" } = await addFlow<string>(deps, { x: {}, ...Object.fromEntries(children) }, "other");
  await cancel(deps, "other", x);
  await closeEdges(deps, 500);
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_edges WHERE NOT failed`).toHaveLength(50);
});
