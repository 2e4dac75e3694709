import { eventually } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { advanceGroups, type Advanced } from "./advance.ts";

const { deps, add, statuses, finish } = engineHarness({ group: "g" });
const before = ") AS locked";

/** A look at the notes during which, after its snapshot and before it locks a group, this is done. */
async function advanceWhile(work: () => Promise<unknown>): Promise<Advanced> {
  const { sql } = deps.database;
  const unsafe: typeof sql.unsafe = (text, params, options) => {
    const [first = "", rest = ""] = text.split(before);
    const at = first.lastIndexOf("FOR UPDATE");
    const wait = "AND (SELECT count(pg_advisory_xact_lock(77)) = 1) ";
    return sql.unsafe(first.slice(0, at) + wait + first.slice(at) + before + rest, params, options);
  };
  const waiting = { ...deps, database: { ...deps.database, sql: { unsafe } as typeof sql } };
  const begun = await sql.begin(async (stop) => {
    await stop`SELECT pg_advisory_xact_lock(77)`;
    const look = advanceGroups(waiting, 10);
    await eventually(async () => expect(await sql`SELECT FROM pg_locks WHERE NOT granted`).toHaveLength(1));
    await work();
    return { look };
  });
  return begun.look;
}

test("jobs added to a group while it is looked at keep none from going that has its turn", async () => {
  const [a, b] = await add({}, {});
  await finish(a);
  expect(await advanceWhile(() => add({}))).toMatchObject({ handovers: 1, ready: [{ id: b }] });
});

test("where more may go than the look knows of, it leaves them to the next", async () => {
  const [a] = await add({});
  await finish(a);
  let added: string[] = [];
  expect(await advanceWhile(async () => (added = await add({})))).toMatchObject({
    handovers: 0,
    left: true,
    ready: [],
  });
  expect(await statuses(added[0])).toEqual(["blocked"]);
  expect((await advanceGroups(deps, 10)).ready.map(({ id }) => id)).toEqual(added);
});
