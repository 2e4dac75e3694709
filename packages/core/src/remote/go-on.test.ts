import { randomUUID } from "node:crypto";
import { brokenConnection, eventually, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { call, longPollHarness, many, never } from "../../test/long-poll.ts";
import type { Database } from "../database/connect.ts";
import { createFollowUps } from "../follow-ups.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { settleRemote, type Ack, type Nack } from "./settle.ts";

const { open, add, database, deps, leases, longPoll, read, sql } = longPollHarness();
const backoff = { baseSeconds: 60, maxSeconds: 60, jitterMaxSeconds: 0 };

beforeEach(async () => {
  await sql()`TRUNCATE atlasqueue.job_groups, atlasqueue.idempotency_keys`;
  open(memorySignal());
});

const held = async (count = 1) =>
  (await leases(call({ wait_ms: 0, jobs_max: count }), never)).map(({ id, lease_token }) => ({
    id,
    lease_token,
  }));
type Going = { nacks?: Nack[]; tenant?: string; over?: Database; lease_token?: string };
/** Settles, and asks for the next jobs. */
async function goOn(acks: Ack[], { nacks = [], tenant = "default", over = database(), lease_token }: Going = {}) {
  const own = { ...deps(), database: over };
  const settling = { ...own, backoff, followUps: createFollowUps(deps()) };
  const worker = { worker_id: "w2", lease_seconds: 60, lease_token, release: longPoll().release };
  const settled = await settleRemote(settling, tenant, acks, nacks, worker);
  return { ...settled, next: settled.next.jobs, repeated: settled.next.repeated };
}
const states = (ids: string[]) => Promise.all(ids.map(async (id) => (await read(id))?.status));

test("the ack of a job leases the next of its group, whole; the same ack again leases nothing", async () => {
  const ids = await add({ group: "g" }, { group: "g", payload: { n: 2 } }, { group: "g" });
  const acks = await held();
  const first = await goOn(acks);
  expect(first.acks).toEqual(["succeeded"]);
  const next = { id: ids[1], payload: { n: 2 }, attempts: 1, worker_id: "w2", status: "running", group_key: "g" };
  expect(first.next).toMatchObject([{ ...next, locked_until: expect.any(Date) as Date }]);
  expect(first.next[0]?.lease_token).not.toBe(acks[0]?.lease_token);
  expect(await goOn(acks)).toMatchObject({ acks: ["succeeded"], next: [] });
  expect(await states(ids)).toEqual(["succeeded", "running", "blocked"]);
  const last = await goOn(first.next);
  expect(last.next).toMatchObject([{ id: ids[2] }]);
  expect((await goOn(last.next)).next).toEqual([]);
  expect(await states(ids)).toEqual(["succeeded", "succeeded", "succeeded"]);
});

test("of many groups each goes on by itself; without a group, after a failure or for another tenant nothing does", async () => {
  const ids = await add({}, ...["a", "b", "c"].flatMap((group) => many(2, { group })), {});
  const [plain, a, b, c, other] = await held(8);
  if (!plain || !a || !b || !c || !other) throw new Error("not all were leased");
  expect(await goOn([a], { tenant: "stranger" })).toMatchObject({ acks: ["not_found"], nacks: [], next: [] });
  const nacks = [{ ...c, error: "no", retry: true }];
  const settled = await goOn([plain, a, b, { ...other, lease_token: plain.id }], { nacks });
  expect(settled.acks).toEqual(["succeeded", "succeeded", "succeeded", "lease_lost"]);
  expect(settled.nacks).toEqual(["failed"]);
  expect(settled.next.map(({ group_key }) => group_key).toSorted()).toEqual(["a", "b"]);
  expect((await states(ids)).toSorted()).toEqual(
    ["blocked", "failed", "running", "running", "running", "succeeded", "succeeded", "succeeded"].toSorted(),
  );
});

test("what was leased for an answer that the database lost, or that failed otherwise, goes back with no attempt spent", async () => {
  for (const lost of ["acks", "nacks"] as const) {
    const [failing, first, second = ""] = await add({}, { group: lost }, { group: lost });
    const both = await held(2);
    const of = (id: string | undefined) => both.filter((one) => one.id === id);
    const nacks = of(failing).map((one) => ({ ...one, error: "no", retry: false }));
    let taken = false;
    const over = steppingDatabase(database(), async (step, _number, text, sent) => {
      const acking = sent.some((one) => one.includes("leased"));
      if (lost === "acks" && acking && step === "answer") throw brokenConnection();
      if (acking && step === "answer") taken = true;
      if (lost === "nacks" && !acking && step === "answer" && text.includes("'dead'")) {
        await eventually(() => expect(taken).toBe(true));
        throw brokenConnection();
      }
    });
    await expect(goOn(of(first), { nacks, over })).rejects.toThrow();
    await eventually(async () => {
      const [job] = await sql()`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${second}`;
      expect(job).toEqual({ status: "queued", attempts: 0 });
    });
    await sql()`DELETE FROM atlasqueue.jobs WHERE status <> 'succeeded'`;
  }
});

test("an ack repeated beside that of the next job of its group leases the one after that once", async () => {
  const ids = await add({ group: "g" }, { group: "g" }, { group: "g" });
  const [first] = await held();
  if (!first) throw new Error("nothing was leased");
  const { next: second } = await goOn([first]);
  const both = [first, ...second.map(({ id, lease_token }) => ({ id, lease_token }))];
  const { acks, next } = await goOn(both);
  expect(acks).toEqual(["succeeded", "succeeded"]);
  expect(next.map(({ id }) => id)).toEqual([ids[2]]);
});

test("repeated with its token, a settlement whose answer was lost has the same next jobs, once", async () => {
  for (const lost of ["before", "after"] as const) {
    const ids = await add({ group: lost }, { group: lost }, { group: lost });
    const acks = await held();
    const lease_token = randomUUID();
    let is_lost = false;
    const over = steppingDatabase(database(), (step, _number, _text, sent) => {
      if (is_lost || !sent.some((one) => one.includes("leased"))) return;
      if (step !== (lost === "before" ? "statement" : "answer")) return;
      is_lost = true;
      throw brokenConnection();
    });
    await expect(goOn(acks, { over, lease_token })).rejects.toThrow();
    for (const repeated of lost === "before" ? [false, true] : [true, true])
      expect(await goOn(acks, { lease_token })).toMatchObject({
        acks: ["succeeded"],
        next: [{ id: ids[1], attempts: 1, lease_token }],
        repeated,
      });
    expect(await states(ids)).toEqual(["succeeded", "running", "blocked"]);
  }
});

test("under another worker's token the settlement stands, and nothing is leased for it", async () => {
  const ids = await add({ group: "g" }, { group: "g" }, {});
  const lease_token = randomUUID();
  const [first] = await held();
  await leases(call({ wait_ms: 0, lease_token }));
  expect(await goOn(first ? [first] : [], { lease_token })).toMatchObject({ acks: ["succeeded"], next: [] });
  expect(await states(ids)).toEqual(["succeeded", "queued", "running"]);
});
