import { randomUUID } from "node:crypto";
import { brokenConnection, eventually, ownSignal, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { call, longPollHarness, never } from "../../test/long-poll.ts";
import { recoverExpired } from "../lease/recover.ts";
import { forgetEndedClaims } from "../lease/forget-claims.ts";
import { complete } from "../settle/settle.ts";
import type { LeaseCall } from "./waiters.ts";

const { open, add, database, deps, leases, longPoll, read, sql } = longPollHarness();
beforeEach(() => open(ownSignal()));

const lease = (lease_token: string, fields: Partial<LeaseCall> = {}) =>
  longPoll().lease(call({ wait_ms: 0, jobs_max: 2, lease_token, ...fields }), never);

test("a request repeated with its token has the same jobs, at once and as often as it is sent, and leases no others", async () => {
  const token = randomUUID();
  const ids = await add({}, {}, {});
  const first = await lease(token);
  expect(first).toMatchObject({ jobs: [{ id: ids[0] }, { id: ids[1] }], remaining_ms: 30_000, repeated: false });
  for (const wait_ms of [0, 20_000, 0]) {
    const again = await lease(token, { wait_ms });
    expect(again).toMatchObject({ jobs: first.jobs, repeated: true });
    expect(again.remaining_ms).toBeLessThanOrEqual(30_000);
    expect(again.remaining_ms).toBeGreaterThan(25_000);
  }
  expect((await lease(randomUUID())).jobs).toMatchObject([{ id: ids[2], attempts: 1 }]);
});

test("a repetition has only what is still leased, perhaps nothing, also a while after the last job was settled", async () => {
  const token = randomUUID();
  await add({}, {}, {});
  const [one, other] = (await lease(token)).jobs;
  if (!one || !other) throw new Error("not all were leased");
  await complete(deps(), [{ lease: one, result: null }]);
  expect(await lease(token)).toMatchObject({ jobs: [{ id: other.id }], repeated: true });
  await complete(deps(), [{ lease: other, result: null }]);
  await forgetEndedClaims(deps(), [token]);
  expect(await lease(token)).toMatchObject({ jobs: [], remaining_ms: 0, repeated: true });
  expect(await sql()`SELECT round(date_part('epoch', check_at - now()))::int AS left FROM atlasqueue.claims`).toEqual([
    { left: 60 },
  ]);
  await sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  await recoverExpired(deps(), 50);
  expect(await lease(token)).toMatchObject({ jobs: [{ attempts: 1 }], repeated: false });
});

test("after its leases have ended a token leases nothing, for a minute", async () => {
  const token = randomUUID();
  const [id = ""] = await add({});
  await lease(token);
  await sql()`UPDATE atlasqueue.jobs SET locked_until = now()`;
  await sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  expect((await recoverExpired(deps(), 50)).requeued).toMatchObject([{ id }]);
  await deps().signal.push([{ id, tenant: "default", queue: "default", priority: 0 }]);
  expect(await lease(token)).toMatchObject({ jobs: [], repeated: true });
  expect(await read(id)).toMatchObject({ status: "queued" });
  await sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  await recoverExpired(deps(), 50);
  expect(await sql()`SELECT FROM atlasqueue.claims`).toEqual([]);
});

test("a token that leased nothing may lease later; another worker's, or one for another queue, is refused", async () => {
  const token = randomUUID();
  expect(await lease(token, { queue: "empty" })).toMatchObject({ jobs: [], remaining_ms: 0, repeated: false });
  await add({});
  await lease(token);
  await expect(lease(token, { worker_id: "other" })).rejects.toThrow("by another worker_id");
  await expect(lease(token, { queue: "empty" })).rejects.toThrow("for queue default");
  await add({ queue: "empty" });
  await expect(lease(token, { queue: "empty" })).rejects.toThrow("for queue default");
  expect((await lease(randomUUID(), { queue: "empty" })).jobs).toHaveLength(1);
});

test("each tenant has tokens of its own", async () => {
  const token = randomUUID();
  const [mine] = await add({});
  await lease(token);
  expect(await lease(token, { tenant: "other" })).toMatchObject({ jobs: [], repeated: false });
  const stored =
    await sql()`UPDATE atlasqueue.jobs SET tenant = 'other', status = 'queued', lease_token = NULL, ready_at = now()
    WHERE id = ${mine ?? ""} RETURNING id`;
  expect(stored).toHaveLength(1);
  await deps().signal.push([{ id: mine ?? "", tenant: "other", queue: "default", priority: 0 }]);
  expect(await lease(token, { tenant: "other" })).toMatchObject({ jobs: [{ id: mine }], repeated: false });
});

test.each(["statement", "answer"] as const)("a claim lost at its %s is found by the repetition", async (lost) => {
  const [id] = await add({});
  let is_lost = false;
  open(
    deps().signal,
    steppingDatabase(database(), (step, _number, text) => {
      if (is_lost || step !== lost || !text.includes("attempts = attempts + 1")) return;
      is_lost = true;
      throw brokenConnection();
    }),
  );
  const token = randomUUID();
  await expect(lease(token)).rejects.toThrow();
  if (lost === "statement")
    await deps().signal.push([{ id: id ?? "", tenant: "default", queue: "default", priority: 0 }]);
  expect(await lease(token)).toMatchObject({ jobs: [{ id, attempts: 1 }], repeated: lost === "answer" });
});

test("a claim without a caller's token whose answer is lost is released", async () => {
  const [id] = await add({});
  let is_lost = false;
  open(
    deps().signal,
    steppingDatabase(database(), (step, _number, text) => {
      if (is_lost || step !== "answer" || !text.includes("attempts = attempts + 1")) return;
      is_lost = true;
      throw brokenConnection();
    }),
  );
  await expect(leases(call({ wait_ms: 0 }))).rejects.toThrow();
  await longPoll().released();
  expect(await leases(call({ wait_ms: 0 }))).toMatchObject([{ id, attempts: 1 }]);
});

test("a repetition that waits for jobs has those of a first claim that is committed meanwhile", async () => {
  const token = randomUUID();
  const [id] = await add({});
  let commit = () => {};
  const committed = new Promise<void>((resolve) => (commit = resolve));
  let is_claiming = false;
  open(
    deps().signal,
    steppingDatabase(database(), async (step, _number, text) => {
      if (is_claiming || step !== "statement" || !text.includes("attempts = attempts + 1")) return;
      is_claiming = true;
      await committed;
    }),
  );
  const first = lease(token);
  await eventually(() => expect(is_claiming).toBe(true));
  const again = lease(token, { wait_ms: 300 });
  commit();
  expect((await first).jobs).toMatchObject([{ id }]);
  expect(await again).toMatchObject({ jobs: [{ id, attempts: 1 }], repeated: true });
});
