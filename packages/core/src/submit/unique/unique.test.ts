import type { SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Deps } from "../../deps.ts";
import { findJob } from "../../jobs/find.ts";
import { queueStats } from "../../queues/stats.ts";
import { createQueue, UniqueConflictError } from "../../queue.ts";
import { advanceGroups } from "../../groups/advance.ts";
import { cancel } from "../../jobs/cancel.ts";
import { claim } from "../../lease/claim.ts";
import type { Lease } from "../../lease/lease.ts";
import { complete } from "../../settle/complete.ts";
import { enqueueAll } from "../enqueue-all.ts";
import type { EnqueueOutcome } from "../outcome.ts";
import { enqueue } from "../enqueue.ts";
import { fail } from "../../settle/fail.ts";
import { promoteDue } from "../../maintenance/promote.ts";
import { pruneUniqueKeys } from "../../maintenance/prune.ts";

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
const kindOf = async (outcome: Promise<EnqueueOutcome>) => (await outcome).kind;
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

test("until a job with the key is final, others are answered with it; after that there is a new one", async () => {
  const first = await add({});
  expect(first.kind).toBe("created");
  const second = await add({ payload: { other: true } });
  expect([second.kind, idOf(second)]).toEqual(["existing", idOf(first)]);
  const lease = await take(idOf(first));
  expect(await add({})).toMatchObject({ kind: "existing", job: { id: idOf(first), status: "running" } });
  await fail(deps, [{ lease, error: "E", verdict: { kind: "retry", delay_ms: 0 } }]);
  expect(await kindOf(add({}))).toBe("existing");
  await promoteDue(deps, 10);
  await finish(idOf(first));
  const third = await add({});
  expect([third.kind, idOf(third) !== idOf(first)]).toEqual(["created", true]);
  await cancel(deps, "default", idOf(third));
  expect(await kindOf(add({}))).toBe("created");
  await countsAreTrue();
});

test("a key belongs to one queue and tenant; without a key, jobs of the same type and payload are the same", async () => {
  const mine = { key: undefined };
  expect(await kindOf(add({ unique: mine, payload: { a: 1, b: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, payload: { b: 2, a: 1 } }))).toBe("existing");
  expect(await kindOf(add({ unique: mine, payload: { a: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, type: "other", payload: { a: 1, b: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, queue: "other", payload: { a: 1, b: 2 } }))).toBe("created");
  const acme = { ...submission({ unique: {}, payload: { a: 1, b: 2 } }), tenant: "acme" };
  expect((await enqueue(deps, [acme], options))[0]?.kind).toBe("created");
});

test("a window runs from the job's creation, whatever becomes of it", async () => {
  const unique = { key: "u", scope: "window", window_seconds: 60 } as const;
  const first = await add({ unique });
  await finish(idOf(first));
  expect(await add({ unique })).toMatchObject({ kind: "existing", job: { id: idOf(first), status: "succeeded" } });
  await own.database.sql`UPDATE unique_keys SET window_ends_at = now() - interval '1 ms'`;
  expect(await kindOf(add({ unique }))).toBe("created");
});

test("a pruned holder holds nothing", async () => {
  const first = await add({ unique: { key: "u", scope: "window", window_seconds: 60 } });
  await own.database.sql`DELETE FROM jobs WHERE id = ${idOf(first)}`;
  expect(await kindOf(add({}))).toBe("created");
});

test("reject refuses, names the job, and burns no idempotency key", async () => {
  const first = await add({});
  const unique = { key: "u", on_conflict: "reject" } as const;
  expect(await add({ unique }, "mine")).toEqual({ kind: "conflict", job_id: idOf(first) });
  await finish(idOf(first));
  expect(await kindOf(add({ unique }, "mine"))).toBe("created");
});

test("the same idempotency key gets the same answer again, whatever happened to the unique key", async () => {
  const first = await add({});
  const second = await add({}, "returned");
  const replace = { key: "u", on_conflict: "replace" } as const;
  await add({ unique: replace, payload: { a: 1 } }, "replaced");
  await add({ unique: replace, payload: { a: 2 } });
  await finish(idOf(first));
  await add({});
  expect(await add({}, "returned")).toMatchObject({ kind: "replayed", job: { id: idOf(second) } });
  const again = await add({ unique: replace, payload: { a: 1 } }, "replaced");
  expect(again).toMatchObject({ kind: "replayed", job: { id: idOf(first), payload: { a: 2 } } });
  expect(await kindOf(add({ priority: 1 }, "returned"))).toBe("mismatch");
});

test("a request that turns out to be a replay leaves no unique key behind", async () => {
  await add({ unique: undefined, payload: { a: 1 } }, "k");
  expect(await kindOf(add({ unique: { key: "fresh" } }, "k"))).toBe("mismatch");
  expect(await keys()).toEqual([]);
});

const replace = { key: "u", on_conflict: "replace" } as const;

test("replace puts everything the newer request says into a job that has not started, and keeps its id", async () => {
  const first = await add({ delay_seconds: 60 });
  const later = { type: "b", payload: { a: 1 }, priority: 5, max_attempts: 2, timeout_seconds: 9 };
  const backoff = { kind: "fixed", base_seconds: 3 } as const;
  const second = await add({ unique: replace, ...later, backoff, delay_seconds: 120 });
  expect(second).toMatchObject({
    kind: "replaced",
    ready: false,
    job: { id: idOf(first), status: "scheduled", ...later },
  });
  const stored = await read(idOf(first));
  expect(stored).toMatchObject({ ...later, backoff, attempts: 0 });
  expect(Math.round(((stored?.run_at.getTime() ?? 0) - (stored?.updated_at.getTime() ?? 0)) / 1_000)).toBe(120);
  const now = await add({ unique: replace });
  expect(now).toMatchObject({
    kind: "replaced",
    ready: true,
    job: { id: idOf(first), status: "queued", due_at: null },
  });
  const ready_at = (await read(idOf(first)))?.ready_at;
  expect(await add({ unique: replace, payload: { a: 3 } })).toMatchObject({ kind: "replaced", ready: false });
  expect((await read(idOf(first)))?.ready_at).toEqual(ready_at);
  expect(await add({ unique: replace, delay_seconds: 5 })).toMatchObject({
    job: { status: "scheduled", ready_at: null },
  });
  expect(await jobs()).toEqual([idOf(first)]);
  await countsAreTrue();
});

test("a failed job is replaced as if it were new", async () => {
  const id = idOf(await add({}));
  await fail(deps, [{ lease: await take(id), error: "E", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  expect(await add({ unique: replace, payload: { a: 1 } })).toMatchObject({ kind: "replaced", ready: true });
  expect(await read(id)).toMatchObject({ status: "queued", attempts: 0, last_error: null, payload: { a: 1 } });
  await countsAreTrue();
});

test("a job that has started is left alone, and a new one takes its key", async () => {
  const first = idOf(await add({}));
  await take(first);
  const second = await add({ unique: replace, payload: { a: 1 } });
  expect(second.kind).toBe("created");
  expect(await add({ unique: replace, payload: { a: 2 } })).toMatchObject({
    kind: "replaced",
    job: { id: idOf(second) },
  });
  expect((await read(first))?.payload).toEqual({});
  expect(await jobs()).toEqual([first, idOf(second)]);
});

test("a blocked job keeps its place in its group; one in another group is not moved", async () => {
  const ahead = idOf(await add({ unique: undefined, group: "g" }));
  const first = idOf(await add({ group: "g" }));
  await add({ unique: undefined, group: "g" });
  expect(await add({ unique: replace, group: "g", payload: { a: 1 } })).toMatchObject({
    kind: "replaced",
    ready: false,
    job: { id: first, status: "blocked" },
  });
  expect(await add({ unique: replace, group: "h" })).toEqual({ kind: "conflict", job_id: first });
  expect(await add({ unique: replace })).toEqual({ kind: "conflict", job_id: first });
  await finish(ahead);
  expect((await advanceGroups(deps, 10)).ready.map(({ id }) => id)).toEqual([first]);
  await countsAreTrue();
});

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

test("keys no job holds are forgotten, a few at a time; those held stay", async () => {
  const open = idOf(await add({ unique: { key: "open" } }));
  const done = idOf(await add({ unique: { key: "done" } }));
  const gone = idOf(await add({ unique: { key: "gone" } }));
  await add({ unique: { key: "window", scope: "window", window_seconds: 60 } });
  await finish(done);
  await own.database.sql`DELETE FROM jobs WHERE id = ${gone}`;
  expect(await pruneUniqueKeys(deps, 10)).toBe(0);
  await own.database.sql`UPDATE unique_keys SET check_at = now() WHERE key <> 'key:window'`;
  expect([await pruneUniqueKeys(deps, 2), await pruneUniqueKeys(deps, 2), await pruneUniqueKeys(deps, 2)]).toEqual([
    2, 1, 0,
  ]);
  expect((await keys()).map(({ key }) => key as string)).toEqual(["key:open", "key:window"]);
  expect(await add({ unique: { key: "open" } })).toMatchObject({ kind: "existing", job: { id: open } });
  await own.database.sql`UPDATE unique_keys SET check_at = now(), window_ends_at = now() WHERE key = 'key:window'`;
  expect(await pruneUniqueKeys(deps, 2)).toBe(1);
  expect((await keys()).map(({ key }) => key as string)).toEqual(["key:open"]);
});

test("in your own code: a refusal is an error that names the job; in your transaction it stores nothing", async () => {
  const queue = createQueue({ databaseUrl: own.url });
  try {
    const unique = { key: "q", on_conflict: "reject" } as const;
    const first = await queue.submit({ type: "a", unique });
    await expect(queue.submit({ type: "a", unique })).rejects.toThrow(UniqueConflictError);
    await expect(queue.submit({ type: "a", unique })).rejects.toMatchObject({ job_id: first.id });
    expect(await queue.submitMany([{ type: "a", unique: { key: "q" } }, { type: "b" }])).toMatchObject([
      { id: first.id, created: false },
      { created: true },
    ]);
    const { sql } = own.database;
    const inside = await sql.begin(async (tx) => {
      const debounced = await queue.submitIn(tx, { type: "a", unique: replace, payload: { n: 1 }, delay_seconds: 9 });
      return [debounced, await queue.submitIn(tx, { type: "a", unique: replace, payload: { n: 2 } })] as const;
    });
    expect(inside).toMatchObject([{ created: true, status: "blocked" }, { created: true }]);
    await queue.announce(...inside);
    const [kept, ended] = [await read(inside[0].id), await read(inside[1].id)];
    expect(kept).toMatchObject({ status: "queued", payload: { n: 2 } });
    expect(ended).toMatchObject({ status: "cancelled", last_error: expect.stringContaining(inside[0].id) });
    await countsAreTrue();
    await expect(
      sql.begin(async (tx) => {
        await queue.submitIn(tx, { type: "a", unique: { key: "rolled back" } });
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect((await keys()).map(({ key }) => key as string)).toEqual(["key:q", "key:u"]);
  } finally {
    await queue.close();
  }
});
