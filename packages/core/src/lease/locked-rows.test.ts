import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { claim, claimReady } from "./claim.ts";
import type { Lease } from "./lease.ts";
import { complete } from "../settle/settle.ts";
import { extendLeases } from "./extend.ts";
import { recoverExpired } from "./recover.ts";

/** Well below any deadline, well above the time of a statement. */
const waited_ms_max = 3_000;
const { deps, addMany, besideStranger } = engineHarness();

/** The same, in time. */
const beside = <T>(id: string | undefined, work: () => Promise<T>): Promise<T> =>
  besideStranger([id], async () => {
    const started = performance.now();
    const done = await work();
    expect(performance.now() - started).toBeLessThan(waited_ms_max);
    return done;
  });
const ten = async (): Promise<Lease[]> => claim(deps, await addMany(10), claimer);
const expireAll = async () => {
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms'`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms'`;
};

test("one locked job stops no renewal of the others, and is not considered lost", async () => {
  const leases = await ten();
  const { lost, locked } = await beside(leases[4]?.id, () => extendLeases(deps, leases, 600));
  expect([lost, locked]).toEqual([[], [leases[4]]]);
  const long = await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE locked_until > now() + interval '500 seconds'`;
  expect(long).toHaveLength(9);
});

test("one locked job stops no recovery of the others, and afterwards its worker gets the first turn", async () => {
  const leases = await ten();
  await expireAll();
  const recovered = await beside(leases[4]?.id, () => recoverExpired(deps, 50));
  expect(recovered.requeued).toHaveLength(9);
  expect(await recoverExpired(deps, 50)).toMatchObject({ requeued: [], claims: 0 });
  const [lease] = leases.slice(4);
  if (!lease) throw new Error("ten were leased");
  expect(await extendLeases(deps, [lease], 30)).toMatchObject({ lost: [], locked: [] });
});

test("one locked job stops no success of the others; its own comes later", async () => {
  const leases = await ten();
  const completions = leases.map((lease) => ({ lease, result: 1 }));
  const outcomes = await beside(leases[4]?.id, () => complete(deps, completions));
  expect(outcomes.map(({ kind }) => kind).filter((kind) => kind === "applied")).toHaveLength(9);
  expect(outcomes[4]).toEqual({ kind: "locked" });
  expect(await complete(deps, completions)).toEqual(leases.map(() => ({ kind: "applied" })));
});

test("one locked job stops no claim of the others, by ids or by age", async () => {
  const ids = await addMany(10);
  await beside(ids[4], async () => {
    const first = (await claim(deps, ids.slice(0, 6), claimer)).map(({ id }) => id);
    expect(first).toEqual([...ids.slice(0, 4), ...ids.slice(5, 7)]);
    expect(await claimReady(deps, 10, claimer)).toHaveLength(3);
  });
  expect(await claim(deps, ids, claimer)).toHaveLength(1);
});
