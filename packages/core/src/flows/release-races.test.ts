import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { advanceAndAdmit, closeEdges } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { complete } from "../settle/complete.ts";

const { deps, take, finish, status, statuses } = engineHarness();

const advance = async () => void (await advanceAndAdmit(deps));
const rows = async () => {
  const [row] = await deps.database.sql`
    SELECT (SELECT count(*)::int FROM atlasqueue.flow_edges) AS edges, (SELECT count(*)::int FROM atlasqueue.outbox) AS notes`;
  return row;
};

test("of two parents that end at once, in two transactions that see nothing of each other, the later note sees both", async () => {
  const { a, b, c } = await addFlow(deps, { a: {}, b: {}, c: { after: ["a", "b"] } });
  const leases = [await take(a), await take(b)];
  const second = deps.database.sql.begin(async (tx) => {
    const within = { ...deps, database: { ...deps.database, sql: tx as never } };
    await complete(within, [{ lease: leases[1] as never, result: null }]);
    await complete(deps, [{ lease: leases[0] as never, result: null }]);
    await advance();
    expect(await status(c)).toBe("blocked");
  });
  await second;
  await advance();
  expect(await status(c)).toBe("queued");
});

test("two passes at once strand no child", async () => {
  const { a, b, c } = await addFlow(deps, { a: {}, b: {}, c: { after: ["a", "b"] } });
  await finish(a);
  await finish(b);
  await Promise.all(Array.from({ length: 4 }, advance));
  await advance();
  expect(await status(c)).toBe("queued");
  expect(await rows()).toEqual({ edges: 0, notes: 0 });
});

test("a process that dies between the two pages leaves the row of the child", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await finish(a);
  expect(await closeEdges(deps, 10)).toMatchObject({ rows: 1 });
  expect(await rows()).toEqual({ edges: 0, notes: 1 });
  await advance();
  expect(await status(b)).toBe("queued");
});

test("who holds a parent or a child delays nobody else", async () => {
  const flow = await addFlow(deps, {
    a: {},
    b: {},
    held_parent: {},
    c: { after: ["a"] },
    d: { after: ["b"] },
    e: { after: ["held_parent"] },
  });
  const { a, b, c, d, e, held_parent } = flow;
  for (const id of [held_parent, a, b]) await finish(id);
  await deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.jobs WHERE id IN (${held_parent}, ${c}) FOR UPDATE`;
    await advance();
    expect(await status(d)).toBe("queued");
  });
  await deps.database.sql`UPDATE atlasqueue.outbox SET not_before = NULL`;
  await advance();
  expect(await statuses(c, d, e)).toEqual(["queued", "queued", "queued"]);
});
