import { limits } from "@atlasqueue/contract";
import { steppingDatabase, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { completeAll, engineHarness } from "../../test/engine-harness.ts";
import { isUnavailable } from "../database/errors.ts";
import { enqueue } from "../submit/enqueue.ts";
import { type Flow, type FlowJob, underOneKey } from "./flow.ts";
import { submitFlow } from "./submit-flow.ts";

// Jobs that are there already, and what may happen to them while a flow is submitted that waits for them.

const { deps, addMany, besideStranger, take } = engineHarness();
const options = { idempotency_ttl_seconds: 60 };

const after = (...depends_on: string[]): FlowJob => ({ ...submission(), depends_on });
const stored = async () => {
  const { sql } = deps.database;
  const tables = await Promise.all([
    sql`SELECT FROM atlasqueue.flow_jobs`,
    sql`SELECT FROM atlasqueue.flow_edges`,
    sql`SELECT FROM atlasqueue.outbox`,
    sql`SELECT FROM atlasqueue.idempotency_keys`,
    sql`SELECT FROM atlasqueue.jobs WHERE flow_id IS NOT NULL OR has_children`,
  ]);
  return tables.map(({ length }) => length);
};
const nothing = [0, 0, 0, 0, 0];
/** Submits, and does something else each time it is about to send the statement that stores the flow. */
const submitWhile = (flow: Flow, meanwhile: (attempt: number) => Promise<unknown>) => {
  let attempts = 0;
  const database = steppingDatabase(deps.database, async (step, _number, text) => {
    if (step === "statement" && text.includes("INSERT INTO atlasqueue.flow_edges")) await meanwhile((attempts += 1));
  });
  return submitFlow({ ...deps, database }, flow, options);
};

test("one that is removed between the look and the statement is no parent", async () => {
  const [kept = "", gone = ""] = await addMany(2);
  const flow = underOneKey({ jobs: [after(kept, gone)] }, "k");
  const outcome = await submitWhile(flow, () => deps.database.sql`DELETE FROM atlasqueue.jobs WHERE id = ${gone}`);
  expect(outcome).toEqual({ kind: "unknown_parents", places: [{ at: 0, nth: 1, id: gone }] });
  expect(await stored()).toEqual(nothing);
});

test("one that ends between the look and the statement is not waited for, and one that has begun is noted once it ends", async () => {
  const [ends = "", runs = ""] = await addMany(2);
  const [ending, running] = [await take(ends), await take(runs)];
  const outcome = await submitWhile({ jobs: [after(ends, runs)] }, () => completeAll(deps, [ending]));
  expect(outcome.kind).toBe("stored");
  const parents = await deps.database
    .sql`SELECT status, has_children FROM atlasqueue.jobs WHERE flow_id IS NULL ORDER BY id`;
  expect(parents).toEqual(["succeeded", "running"].map((status) => ({ status, has_children: true })));
  const noted = async () =>
    (await deps.database.sql`SELECT key FROM atlasqueue.outbox`).map(({ key }) => key as string);
  const awaited = await deps.database.sql`SELECT parent FROM atlasqueue.flow_edges`;
  expect([awaited.map(({ parent }) => parent as string), await noted()]).toEqual([[runs], []]);
  await completeAll(deps, [running]);
  expect(await noted()).toEqual([runs]);
});

test("one that a stranger locks is waited for by looking again, and nothing else is held meanwhile", async () => {
  const [locked = ""] = await addMany(1);
  const lock = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const stranger = deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.jobs WHERE id = ${locked} FOR UPDATE`;
    taken.resolve();
    await lock.promise;
  });
  await taken.promise;
  const outcome = await submitWhile(underOneKey({ jobs: [after(locked)] }, "k"), async (attempt) => {
    expect(await stored()).toEqual(nothing);
    if (attempt < 3) return;
    lock.resolve();
    await stranger;
  });
  expect(outcome.kind).toBe("stored");
});

test("one that stays locked refuses the flow, which may be sent again", async () => {
  const [locked = ""] = await addMany(1);
  const flow = underOneKey({ jobs: [{ ...submission(), ref: "a" }, after("a", locked)] }, "k");
  await besideStranger([locked], async () => {
    const error = await submitFlow(deps, flow, options).catch((reason: unknown) => reason);
    expect(isUnavailable(error), String(error)).toBe(true);
    expect(await stored()).toEqual(nothing);
  });
  expect(await submitFlow(deps, flow, options)).toMatchObject({ kind: "stored" });
});

test("many flows at once may wait for the same ones, in any order", async () => {
  const ids = await addMany(3);
  const flows = Array.from({ length: 12 }, (_, at) => ({
    jobs: [after(...(at % 2 ? ids : ids.toReversed())), { ...submission(), ref: "a" }, after("a")],
  }));
  const outcomes = await Promise.all(flows.map((flow) => submitFlow(deps, flow, options)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(flows.map(() => "stored"));
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_edges`).toHaveLength(12 * 4);
});

test("when a unique key of the flow is held, no job that was there is marked", async () => {
  const unique = { key: "u", on_conflict: "reject" } as const;
  const [holder] = await enqueue(deps, [submission({ unique })], options);
  const [parent = ""] = await addMany(1);
  const flow = { jobs: [after(parent), submission({ unique })] };
  const held = holder && "job" in holder ? holder.job.id : "";
  expect(await submitFlow(deps, flow, options)).toEqual({ kind: "conflict", places: [{ at: 1, job_id: held }] });
  expect(await stored()).toEqual(nothing);
});

test("as many jobs and ties as a request may have take no longer than their number asks for", async () => {
  const jobs = Array.from({ length: limits.batch_items_max }, (_, at): FlowJob => ({ ...submission(), ref: `${at}` }));
  const tied = (each: number) =>
    jobs.map((one, at) => ({
      ...one,
      depends_on: Array.from({ length: Math.min(at, each) }, (_, by) => `${at - by - 1}`),
    }));
  const took = async (flow: Flow): Promise<number> => {
    const began = performance.now();
    expect((await submitFlow(deps, flow, options)).kind).toBe("stored");
    return performance.now() - began;
  };
  // From the sixth time on, PostgreSQL may keep a plan that knows nothing of how many there are.
  for (let time = 1; time <= 6; time += 1) await took({ jobs: tied(1), then: submission() });
  const few = await took({ jobs: tied(1), then: submission() });
  const many = await took({ jobs: tied(10), then: submission() });
  // Five times the ties; were each compared with each other, it would be 25 times.
  expect(many).toBeLessThan(few * 12);
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_edges`).toHaveLength(7 * 1_999 + 10_945);
});
