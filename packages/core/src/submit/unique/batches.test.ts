import type { SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Deps } from "../../deps.ts";
import { findJob } from "../../jobs/find.ts";
import { queueStats } from "../../queues/stats.ts";
import { claim } from "../../lease/claim.ts";
import type { Lease } from "../../lease/lease.ts";
import { complete } from "../../settle/complete.ts";
import { enqueueAll } from "../enqueue-all.ts";
import type { EnqueueOutcome } from "../outcome.ts";
import { enqueue } from "../enqueue.ts";
let own: TestDatabase;
let deps: Deps;
const options = { idempotency_ttl_seconds: 60 };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };

beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
});
afterAll(() => own.drop());
beforeEach(
  () =>
    own.database
      .sql`TRUNCATE jobs, lease_batches, job_attempts, idempotency_keys, unique_keys, job_groups, group_handovers, queue_counts, queue_changes`,
);

type Wish = Partial<SubmitJobInput>;
const add = async (request: Wish, key?: string): Promise<EnqueueOutcome> => {
  const [outcome] = await enqueue(deps, [submission({ unique: { key: "u" }, ...request }, key)], options);
  if (!outcome) throw new Error("no outcome");
  return outcome;
};
const idOf = (outcome: EnqueueOutcome) =>
  "job" in outcome ? outcome.job.id : "job_id" in outcome ? outcome.job_id : "";
const read = (id: string) => findJob(deps, "default", id);
const take = async (id: string): Promise<Lease> => {
  const [lease] = await claim(deps, [id], claimer);
  if (!lease) throw new Error("not claimed");
  return lease;
};
const finish = async (id: string) => complete(deps, [{ lease: await take(id), result: null }]);
const keys = () => own.database.sql`SELECT key, job_id FROM unique_keys ORDER BY key`;
const jobs = async () => (await own.database.sql`SELECT id FROM jobs ORDER BY id`).map(({ id }) => id as string);
const countsAreTrue = async () => {
  const rows = await own.database.sql`SELECT status, count(*)::int AS count FROM jobs GROUP BY status`;
  const counts = (await queueStats(deps, "default"))[0]?.counts ?? {};
  const some = Object.fromEntries(Object.entries(counts).filter((one) => Number(one[1]) > 0));
  expect(some).toEqual(Object.fromEntries(rows.map(({ status, count }) => [status as string, count as number])));
};

test("within one call, a later job conflicts with an earlier one", async () => {
  const of = (unique: SubmitJobInput["unique"], payload: SubmitJobInput["payload"], key?: string) =>
    submission({ unique, payload }, key);
  const outcomes = await enqueue(
    deps,
    [
      submission({}),
      of({ key: "a" }, { n: 1 }, "k1"),
      of({ key: "a" }, { n: 2 }, "k2"),
      of({ key: "a", on_conflict: "replace" }, { n: 3 }, "k3"),
      of({ key: "a", on_conflict: "reject" }, { n: 4 }, "k4"),
      of({ key: "b" }, { n: 5 }, "k5"),
      of({ key: "b" }, { n: 5 }, "k5"),
      of({ key: "b" }, { n: 6 }, "k5"),
    ],
    options,
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual([
    "created",
    "created",
    "existing",
    "replaced",
    "conflict",
    "created",
    "replayed",
    "mismatch",
  ]);
  const a = idOf(outcomes[1] as EnqueueOutcome);
  expect(outcomes.slice(1, 5).map(idOf)).toEqual([a, a, a, a]);
  expect((await read(a))?.payload).toEqual({ n: 3 });
  expect(await jobs()).toHaveLength(3);
  for (const [key, n] of [
    ["k1", 1],
    ["k2", 2],
  ] as const)
    expect((await enqueue(deps, [of({ key: "a" }, { n }, key)], options))[0]).toMatchObject({
      kind: "replayed",
      job: { id: a },
    });
  await countsAreTrue();
});

test("a batch with one refusal stores nothing", async () => {
  const first = idOf(await add({}));
  const batch = [
    submission({ unique: { key: "new" } }, "b1"),
    submission({ unique: { key: "u", on_conflict: "reject" } }, "b2"),
  ];
  expect(await enqueueAll(deps, batch, options)).toEqual({ kind: "conflict", places: [{ at: 1, job_id: first }] });
  expect(await jobs()).toEqual([first]);
  expect(await keys()).toHaveLength(1);
  await finish(first);
  expect(await enqueueAll(deps, batch, options)).toMatchObject({ kind: "stored" });
});

test("batches that share unique keys in opposite orders do not block each other", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `crossed-${at}`);
  const batch = (some: string[]) =>
    enqueue(
      deps,
      some.map((key) => submission({ unique: { key } })),
      options,
    );
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => batch(at % 2 ? names : names.toReversed())));
  expect(answers.flat().filter(({ kind }) => kind === "created")).toHaveLength(30);
  expect(answers.flat().filter(({ kind }) => kind === "existing")).toHaveLength(210);
});
