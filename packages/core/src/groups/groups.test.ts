import { expect, test } from "vitest";
import { cancel } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import { fail } from "../settle/settle.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { retry } from "../jobs/retry.ts";
import { claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, add, statuses, take, finish, die } = engineHarness({ group: "g" });

const idsOf = (ready: readonly { id: string }[] = []) => ready.map(({ id }) => id);
/** The jobs that may go after the end of one. */
const after = async (id: string | undefined) => {
  const [outcome] = await finish(id);
  return outcome?.kind === "applied" ? idsOf(outcome.ready) : undefined;
};
const afterDeath = async (id: string | undefined) => {
  const [outcome] = await die(id);
  return outcome?.kind === "dead" ? idsOf(outcome.ready) : undefined;
};
const afterCancel = async (id: string | undefined) => {
  const outcome = await cancel(deps, "default", id ?? "");
  return outcome.kind === "cancelled" ? idsOf(outcome.ready) : undefined;
};
const groups = async () =>
  (await deps.database.sql`SELECT group_key FROM atlasqueue.job_groups`).map((row) => row["group_key"]);

test("the first of a group is ready and the others wait; each goes when the one before has succeeded", async () => {
  const [a, b, c] = await add({}, {}, {});
  expect(await statuses(a, b, c)).toEqual(["queued", "blocked", "blocked"]);
  expect(await claim(deps, [b ?? ""], claimer)).toEqual([]);
  expect(await after(a)).toEqual([b]);
  expect(await after(b)).toEqual([c]);
  expect(await after(c)).toEqual([]);
  expect(await groups()).toEqual([]);
});

test("a failing job holds its group until it succeeds or dies", async () => {
  const [a, b] = await add({}, {});
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: { kind: "retry", delay_ms: 0 } }]);
  expect(await statuses(a, b)).toEqual(["failed", "blocked"]);
  await promoteDue(deps, 10);
  expect(await afterDeath(a)).toEqual([b]);
});

test("a scheduled job takes its place when it is submitted, and holds its group until it is due", async () => {
  const [a, b, c] = await add({ delay_seconds: 60 }, {}, { delay_seconds: 90 });
  expect(await statuses(a, b, c)).toEqual(["scheduled", "blocked", "blocked"]);
  expect(await afterCancel(a)).toEqual([b]);
  expect([await after(b), await statuses(c)]).toEqual([[], ["scheduled"]]);
});

test("a job retried by hand goes behind those that came meanwhile; one that failed keeps its turn", async () => {
  const [a, b] = await add({}, {});
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  expect(await retry(deps, "default", a ?? "")).toMatchObject({ kind: "retried", job: { status: "queued" } });
  expect(await statuses(a, b)).toEqual(["queued", "blocked"]);
  expect(await afterDeath(a)).toEqual([b]);
  expect(await retry(deps, "default", a ?? "")).toMatchObject({ kind: "retried", job: { status: "blocked" } });
  expect(await after(b)).toEqual([a]);
  await finish(a);
  await add({});
  await cancel(deps, "default", b ?? "");
  expect(await groups()).toEqual(["g"]);
});

test("concurrent producers get the order of their commits, each array in its own order", async () => {
  const arrays = await Promise.all(Array.from({ length: 8 }, () => add({}, {}, {}, {}, {})));
  const order: string[] = [];
  for (;;) {
    const [next] = await deps.database.sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs WHERE status = 'queued'`;
    if (!next) break;
    order.push(next.id);
    await finish(next.id);
  }
  expect(order.toSorted()).toEqual(arrays.flat().toSorted());
  for (const array of arrays) expect(order.filter((id) => array.includes(id))).toEqual(array);
});
