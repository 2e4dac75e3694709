import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { advanceAndAdmit, closeEdges, releaseChildren } from "../../test/advance.ts";
import { addFlow, type Member } from "../../test/add-flow.ts";
import { cancel } from "../jobs/cancel.ts";

const { deps } = engineHarness();

const among = async (status: string) =>
  (await deps.database.sql`SELECT count(*)::int AS jobs FROM atlasqueue.jobs WHERE status = ${status}`)[0]?.["jobs"];
/** As if workers had done it. */
const succeedAll = async (...ids: string[]) => {
  await deps.database.sql`
    WITH ended AS (
      UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now()
      WHERE id = ANY(${`{${ids.join()}}`}::uuid[]) RETURNING id)
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', 'default', id::text FROM ended`;
};

test("ten thousand children are released in steps of 500, each in a statement of its own", async () => {
  const children = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at): [string, Member] => [`c${at}`, { after: ["a"] }]),
  );
  const { a = "" } = await addFlow<string>(deps, { a: {}, ...children });
  await succeedAll(a);
  for (let step = 1; step <= 20; step += 1) {
    expect(await closeEdges(deps, 500)).toMatchObject({ rows: 1 });
    expect((await releaseChildren(deps, 500)).ready).toHaveLength(500);
  }
  expect(await among("queued")).toBe(10_000);
}, 60_000);

test(
  "a job that waits for 10,000 gets a row for each page of them",
  { tags: ["nightly"], timeout: 60_000 },
  async () => {
    const parents = Object.fromEntries(Array.from({ length: 10_000 }, (_, at): [string, Member] => [`p${at}`, {}]));
    const { sum: _sum, ...ids } = await addFlow<string>(deps, { ...parents, sum: { after: Object.keys(parents) } });
    await succeedAll(...Object.values(ids));
    for (let step = 1; step <= 20; step += 1) {
      expect(await closeEdges(deps, 500)).toMatchObject({ rows: 500 });
      const { rows, ready } = await releaseChildren(deps, 500);
      expect([rows, ready.length]).toEqual([1, step === 20 ? 1 : 0]);
    }
  },
);

test("a chain of a thousand is cancelled to its end", { tags: ["nightly"], timeout: 60_000 }, async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, at): [string, Member] => [`j${at}`, at === 0 ? {} : { after: [`j${at - 1}`] }]),
  );
  const { j0 = "" } = await addFlow<string>(deps, chain);
  await cancel(deps, "default", j0);
  await advanceAndAdmit(deps);
  expect(await among("cancelled")).toBe(1_000);
});
