import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { claim, claimReady } from "./claim.ts";
import type { Lease } from "./lease.ts";
import { complete } from "../settle/complete.ts";
import { endLeases } from "./end-leases.ts";
import { extendLeases } from "./extend.ts";
import { fail } from "../settle/fail.ts";
import { recoverExpired } from "./recover.ts";
import { release } from "./release.ts";
import { reportProgress } from "./report-progress.ts";

/** Well below any deadline, well above the time of a statement. */
const waited_ms_max = 3_000;
const { deps, addMany } = engineHarness();

/** Do something while another transaction has a job's row locked, and return the result. */
async function besideStranger<T>(id: string | undefined, work: () => Promise<T>): Promise<T> {
  let done: T | undefined;
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${id ?? ""} FOR UPDATE`;
    const started = performance.now();
    done = await work();
    expect(performance.now() - started).toBeLessThan(waited_ms_max);
  });
  return done as T;
}
const ten = async (): Promise<Lease[]> => claim(deps, await addMany(10), claimer);
const expireAll = async () => {
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms'`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms'`;
};
const count = async (status: string) =>
  (await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE status = ${status}`).length;

test("one locked job stops no renewal of the others, and is not considered lost", async () => {
  const leases = await ten();
  const { lost, locked } = await besideStranger(leases[4]?.id, () => extendLeases(deps, leases, 600));
  expect([lost, locked]).toEqual([[], [leases[4]]]);
  const long = await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE locked_until > now() + interval '500 seconds'`;
  expect(long).toHaveLength(9);
});

test("one locked job stops no progress of the others, and its own is to be reported again", async () => {
  const leases = await ten();
  const reports = leases.map((lease, at) => ({ lease, progress: { done: at } }));
  expect(await besideStranger(leases[4]?.id, () => reportProgress(deps, reports))).toEqual([reports[4]]);
  const stored = await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE progress IS NOT NULL`;
  expect(stored).toHaveLength(9);
  expect(await reportProgress(deps, reports.slice(4, 5))).toEqual([]);
  const [late] = await deps.database.sql`SELECT progress FROM atlasqueue.jobs WHERE id = ${leases[4]?.id ?? ""}`;
  expect(late?.["progress"]).toEqual({ done: 4 });
});

test("one locked job stops no recovery of the others, and afterwards its worker gets the first turn", async () => {
  const leases = await ten();
  await expireAll();
  const recovered = await besideStranger(leases[4]?.id, () => recoverExpired(deps, 50));
  expect(recovered.requeued).toHaveLength(9);
  expect(await recoverExpired(deps, 50)).toMatchObject({ requeued: [], batches: 0 });
  const [lease] = leases.slice(4);
  if (!lease) throw new Error("ten were leased");
  expect(await extendLeases(deps, [lease], 30)).toMatchObject({ lost: [], locked: [] });
});

test("one locked job of a dead process stops no end of the other leases", async () => {
  const leases = await ten();
  const ended = await besideStranger(leases[4]?.id, () => endLeases(deps, claimer.worker_id));
  expect(ended).toEqual({ ended: 9, locked: 1 });
  expect(await endLeases(deps, claimer.worker_id)).toEqual({ ended: 1, locked: 0 });
});

test("one locked job stops no success of the others; its own comes later", async () => {
  const leases = await ten();
  const completions = leases.map((lease) => ({ lease, result: 1 }));
  const outcomes = await besideStranger(leases[4]?.id, () => complete(deps, completions));
  expect(outcomes.map(({ kind }) => kind).filter((kind) => kind === "applied")).toHaveLength(9);
  expect(outcomes[4]).toEqual({ kind: "locked" });
  expect(await complete(deps, completions)).toEqual(leases.map(() => ({ kind: "applied" })));
});

test("one locked job stops no failure of the others; its own comes later", async () => {
  const leases = await ten();
  const verdict = { kind: "dead", reason: "not_retryable" } as const;
  const failures = leases.map((lease) => ({ lease, error: "x", verdict }));
  const outcomes = await besideStranger(leases[4]?.id, () => fail(deps, failures));
  expect(outcomes.filter(({ kind }) => kind === "dead")).toHaveLength(9);
  expect(outcomes[4]).toEqual({ kind: "locked" });
  expect(await count("dead")).toBe(9);
});

test("one locked job stops no release of the others", async () => {
  const leases = await ten();
  const { given, locked } = await besideStranger(leases[4]?.id, () => release(deps, leases));
  expect([given.length, locked]).toEqual([9, [leases[4]]]);
});

test("one locked job stops no claim of the others, by ids or by age", async () => {
  const ids = await addMany(10);
  await besideStranger(ids[4], async () => {
    const first = (await claim(deps, ids.slice(0, 6), claimer)).map(({ id }) => id);
    expect(first).toEqual([...ids.slice(0, 4), ...ids.slice(5, 7)]);
    expect(await claimReady(deps, 10, claimer)).toHaveLength(3);
  });
  expect(await claim(deps, ids, claimer)).toHaveLength(1);
});
