import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { findJob } from "../jobs/find.ts";
import { advanceOverdue } from "./overdue.ts";
import { cancel, cancelMany } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import { enqueue } from "../submit/enqueue.ts";
import { fail } from "../settle/fail.ts";
import { promoteDue } from "../maintenance/promote-due.ts";
import { recoverExpired } from "../lease/recover.ts";
import { release } from "../lease/release.ts";
import { retry } from "../jobs/retry.ts";
import { claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, add, statuses, take, finish, die, expire } = engineHarness({ group: "g" });

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

test("the answer describes a job as it is stored", async () => {
  const options = { idempotency_ttl_seconds: 60 };
  const outcomes = await enqueue(
    deps,
    [submission({ group: "g" }), submission({ group: "g", delay_seconds: 9 })],
    options,
  );
  for (const outcome of outcomes) {
    if (outcome.kind !== "created") throw new Error(outcome.kind);
    const stored = await findJob(deps, "default", outcome.job.id);
    expect({ ...outcome.job, group_seq: 0, active_group_key: "" }).toEqual({
      ...stored,
      group_seq: 0,
      active_group_key: "",
    });
  }
});

test("groups do not hold up each other, jobs without one, or the same name in another queue", async () => {
  const ids = await add({}, { group: "h" }, { group: undefined }, { queue: "other" }, { group: "h" });
  expect(await statuses(...ids)).toEqual(["queued", "queued", "queued", "queued", "blocked"]);
});

test("a failing job holds its group until it succeeds or dies", async () => {
  const [a, b] = await add({}, {});
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: { kind: "retry", delay_ms: 0 } }]);
  expect(await statuses(a, b)).toEqual(["failed", "blocked"]);
  await promoteDue(deps, 10);
  expect(await afterDeath(a)).toEqual([b]);
});

test("a job that loses its last lease lets the next go; a lease given back does not", async () => {
  const [a, b] = await add({ max_attempts: 1 }, {});
  await release(deps, [await take(a)]);
  expect(await statuses(a, b)).toEqual(["queued", "blocked"]);
  await take(a);
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms' WHERE id = ${a ?? ""}`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms'`;
  expect(await recoverExpired(deps, 10)).toMatchObject({ dead: [{ id: a }], ready: [{ id: b }] });
});

test("a job whose last lease has ended stays as long as another transaction has its group locked", async () => {
  const [a = "", b, c = ""] = await add({ max_attempts: 1 }, {}, { group: "h", max_attempts: 1 });
  await take(a);
  await take(c);
  await expire(a);
  await expire(c);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'g' FOR UPDATE`;
    expect(await recoverExpired(deps, 10)).toMatchObject({ dead: [{ id: c }], ready: [] });
  });
  await expire(a);
  expect(await recoverExpired(deps, 10)).toMatchObject({ dead: [{ id: a }], ready: [{ id: b }] });
});

test("of many that are cancelled at once, only those whose group another transaction has locked stay", async () => {
  const [a = "", , c = "", d] = await add({}, {}, { group: "h" }, { group: "h" });
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'g' FOR UPDATE`;
    expect(await cancelMany(deps, "default", [a, c])).toMatchObject({ cancelled: [{ id: c }], ready: [{ id: d }] });
  });
  expect(await cancelMany(deps, "default", [a, c])).toMatchObject({ cancelled: [{ id: a }] });
});

test("cancelling the head wakes the next; cancelling one that waits changes nothing else", async () => {
  const [a, b, c] = await add({}, {}, {});
  expect(await afterCancel(b)).toEqual([]);
  expect(await afterCancel(a)).toEqual([c]);
  expect([await afterCancel(c), await groups()]).toEqual([[], []]);
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

test("when the last of a group and a new one cross, neither is stranded", { tags: ["slow"] }, async () => {
  for (let round = 0; round < 30; round += 1) {
    const [a] = await add({});
    const lease = await take(a);
    const [[b]] = await Promise.all([add({}), complete(deps, [{ lease, result: null }])]);
    expect(await statuses(b)).toEqual(["queued"]);
    await finish(b);
  }
});

test("a job cancelled while the one in front of it ends does not strand those behind it", async () => {
  for (let round = 0; round < 30; round += 1) {
    const [a, b, c] = await add({}, {}, {});
    const lease = await take(a);
    await Promise.all([cancel(deps, "default", b ?? ""), complete(deps, [{ lease, result: null }])]);
    // The job was locked when it should have gone.
    await deps.database.sql`UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE overdue_at IS NOT NULL`;
    await advanceOverdue(deps, 10);
    expect(await statuses(b, c)).toEqual(["cancelled", "queued"]);
    await finish(c);
  }
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

test("with a thousand jobs waiting in one group, adding to it is as quick as ever", async () => {
  await add(...Array.from({ length: 500 }, () => ({})));
  const [a] = await add({});
  const [row] = await deps.database.sql`SELECT group_seq::int FROM atlasqueue.jobs WHERE id = ${a ?? ""}`;
  expect(row?.["group_seq"]).toBe(501);
});
