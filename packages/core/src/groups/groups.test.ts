import { submission } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { findJob } from "../jobs/find.ts";
import { advanceGroups } from "./advance.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import { enqueue } from "../submit/enqueue.ts";
import { fail } from "../settle/fail.ts";
import { promoteDue } from "../maintenance/promote-due.ts";
import { recoverExpired } from "../lease/recover.ts";
import { release } from "../lease/release.ts";
import { retry } from "../jobs/retry.ts";
import { claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, add, statuses, take, finish } = engineHarness({ group: "g" });

const dead = { kind: "dead", reason: "not_retryable" } as const;

const advance = async () => (await advanceGroups(deps, 100)).ready.map(({ id }) => id);
const groups = async () => (await deps.database.sql`SELECT group_key FROM job_groups`).map((row) => row["group_key"]);

test("the first of a group is ready and the others wait; each goes when the one before has succeeded", async () => {
  const [a, b, c] = await add({}, {}, {});
  expect(await statuses(a, b, c)).toEqual(["queued", "blocked", "blocked"]);
  expect(await claim(deps, [b ?? ""], claimer)).toEqual([]);
  await finish(a);
  expect(await advance()).toEqual([b]);
  await finish(b);
  expect(await advance()).toEqual([c]);
  await finish(c);
  expect(await advance()).toEqual([]);
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
    expect({ ...outcome.job, blocked_seq: 0, holds_group: "" }).toEqual({ ...stored, blocked_seq: 0, holds_group: "" });
  }
});

test("groups do not hold up each other, jobs without one, or the same name in another queue", async () => {
  const ids = await add({}, { group: "h" }, { group: undefined }, { queue: "other" }, { group: "h" });
  expect(await statuses(...ids)).toEqual(["queued", "queued", "queued", "queued", "blocked"]);
});

test("a failing job holds its group until it succeeds or dies", async () => {
  const [a, b] = await add({}, {});
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: { kind: "retry", delay_ms: 0 } }]);
  expect(await advance()).toEqual([]);
  expect(await statuses(a, b)).toEqual(["failed", "blocked"]);
  await promoteDue(deps, 10);
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: dead }]);
  expect(await advance()).toEqual([b]);
});

test("a job that loses its last lease lets the next go; a lease given back does not", async () => {
  const [a, b] = await add({ max_attempts: 1 }, {});
  await release(deps, [await take(a)]);
  expect([await advance(), await statuses(a, b)]).toEqual([[], ["queued", "blocked"]]);
  await take(a);
  await deps.database.sql`UPDATE jobs SET locked_until = now() - interval '1 ms' WHERE id = ${a ?? ""}`;
  await deps.database.sql`UPDATE lease_batches SET check_at = now() - interval '1 ms'`;
  expect((await recoverExpired(deps, 10)).dead).toMatchObject([{ id: a }]);
  expect(await advance()).toEqual([b]);
});

test("cancelling the head wakes the next; cancelling one that waits changes nothing else", async () => {
  const [a, b, c] = await add({}, {}, {});
  await cancel(deps, "default", b ?? "");
  expect(await advance()).toEqual([]);
  await cancel(deps, "default", a ?? "");
  expect(await advance()).toEqual([c]);
  await cancel(deps, "default", c ?? "");
  expect([await advance(), await groups()]).toEqual([[], []]);
});

test("a scheduled job takes its place when it is submitted, and holds its group until it is due", async () => {
  const [a, b, c] = await add({ delay_seconds: 60 }, {}, { delay_seconds: 90 });
  expect(await statuses(a, b, c)).toEqual(["scheduled", "blocked", "blocked"]);
  await cancel(deps, "default", a ?? "");
  expect(await advance()).toEqual([b]);
  await finish(b);
  expect([await advance(), await statuses(c)]).toEqual([[], ["scheduled"]]);
});

test("a job retried by hand goes behind those that came meanwhile; one that failed keeps its turn", async () => {
  const [a, b] = await add({}, {});
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  expect(await retry(deps, "default", a ?? "")).toMatchObject({ kind: "retried", job: { status: "queued" } });
  expect(await statuses(a, b)).toEqual(["queued", "blocked"]);
  await fail(deps, [{ lease: await take(a), error: "E: x", verdict: dead }]);
  expect(await retry(deps, "default", a ?? "")).toMatchObject({ kind: "retried", job: { status: "blocked" } });
  expect(await advance()).toEqual([b]);
  await finish(b);
  expect(await advance()).toEqual([a]);
  await finish(a);
  await advance();
  await add({});
  await cancel(deps, "default", b ?? "");
  expect(await groups()).toEqual(["g"]);
});

test("when the last of a group and a new one cross, neither is stranded", { tags: ["slow"] }, async () => {
  for (let round = 0; round < 30; round += 1) {
    const [a] = await add({});
    const lease = await take(a);
    const [[b]] = await Promise.all([add({}), complete(deps, [{ lease, result: null }]).then(advance)]);
    await advance();
    expect(await statuses(b)).toEqual(["queued"]);
    await finish(b);
    await advance();
  }
});

test("a job cancelled while its group is handed on does not strand those behind it", async () => {
  for (let round = 0; round < 30; round += 1) {
    const [a, b, c] = await add({}, {}, {});
    await finish(a);
    await Promise.all([cancel(deps, "default", b ?? ""), advance()]);
    await advance();
    expect(await statuses(b, c)).toEqual(["cancelled", "queued"]);
    await finish(c);
    await advance();
  }
});

test("concurrent producers get the order of their commits, each array in its own order", async () => {
  const arrays = await Promise.all(Array.from({ length: 8 }, () => add({}, {}, {}, {}, {})));
  const order: string[] = [];
  for (;;) {
    const [next] = await deps.database.sql<{ id: string }[]>`SELECT id FROM jobs WHERE status = 'queued'`;
    if (!next) break;
    order.push(next.id);
    await finish(next.id);
    await advance();
  }
  expect(order.toSorted()).toEqual(arrays.flat().toSorted());
  for (const array of arrays) expect(order.filter((id) => array.includes(id))).toEqual(array);
});

test("concurrent advancers hand each group on once", async () => {
  const heads = await add(...Array.from({ length: 50 }, (_, at) => ({ group: `g${at}` })));
  const nexts = await add(...Array.from({ length: 50 }, (_, at) => ({ group: `g${at}` })));
  for (const id of heads) await finish(id);
  const handed = await Promise.all(Array.from({ length: 4 }, () => advanceGroups(deps, 20)));
  handed.push(await advanceGroups(deps, 100));
  expect(handed.flatMap(({ ready }) => ready.map(({ id }) => id)).toSorted()).toEqual(nexts.toSorted());
});

test("the note of a forgotten group goes", async () => {
  const [a] = await add({});
  await finish(a);
  await deps.database.sql`INSERT INTO group_handovers SELECT * FROM group_handovers`;
  expect(await advance()).toEqual([]);
  await deps.database.sql`INSERT INTO group_handovers VALUES ('default', 'default', 'nobody')`;
  expect(await advanceGroups(deps, 10)).toEqual({ handovers: 1, more: false, later: [], left: false, ready: [] });
});

test("with a thousand jobs waiting in one group, adding to it is as quick as ever", async () => {
  await add(...Array.from({ length: 500 }, () => ({})));
  const [a] = await add({});
  const [row] = await deps.database.sql`SELECT blocked_seq::int FROM jobs WHERE id = ${a ?? ""}`;
  expect(row?.["blocked_seq"]).toBe(501);
});
