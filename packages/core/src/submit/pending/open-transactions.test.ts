import { fileURLToPath } from "node:url";
import { forFile, recordEvents, spawnProcess, submission, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { admitAll } from "../../../test/advance.ts";
import { waysToSubmit } from "../../../test/ways-to-submit.ts";
import { connectDatabase } from "../../database/connect.ts";
import type { Deps } from "../../deps.ts";
import { createFollowUps, type FollowUps } from "../../follow-ups.ts";
import { findJob } from "../../jobs/find.ts";
import { createQueue, type QueueJob } from "../../queue.ts";
import { memorySignal } from "../../signal/memory/signal.ts";
import { createSubmitter, type Submitter } from "../submitter.ts";
import { cancel } from "../../jobs/cancel.ts";
import { claim } from "../../lease/claim.ts";
import type { Lease } from "../../lease/lease.ts";
import { complete } from "../../settle/settle.ts";
import { enqueueAll } from "../enqueue-all.ts";
import { extendLeases } from "../../lease/extend.ts";
import { recoverExpired } from "../../lease/recover.ts";
import { retry } from "../../jobs/retry.ts";
import { completeAll } from "../../../test/engine-harness.ts";

const options = { idempotency_ttl_seconds: 60 };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };

const own = forFile(testDatabase);
const database = forFile(async () => connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 20_000 }));
const queue = forFile(async () => createQueue({ databaseUrl: own.url }));
let followUps: FollowUps;
let deps: Deps & { followUps: FollowUps };
let submitter: Submitter;
beforeAll(async () => {
  const plain = { database, observe: recordEvents().observe, signal: memorySignal() };
  followUps = createFollowUps(plain);
  deps = { ...plain, followUps };
  submitter = createSubmitter(deps, options);
});
afterAll(async () => {
  await submitter.close();
  await followUps.stop();
});
beforeEach(
  () =>
    own.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.idempotency_keys, atlasqueue.outbox, atlasqueue.job_groups, atlasqueue.schedules, atlasqueue.queue_counts, atlasqueue.queue_changes`,
);

const submissionOf = ({ idempotency_key, ...request }: QueueJob) => submission(request, idempotency_key);
const ways = Object.values(waysToSubmit);
const read = (id: string) => findJob(deps, "default", id);
const take = async (ids: readonly string[]): Promise<Lease[]> => {
  const leases = await claim(deps, ids, claimer);
  expect(leases).toHaveLength(ids.length);
  return leases;
};
const add = async (...jobs: QueueJob[]): Promise<string[]> =>
  (await queue.submitMany(jobs)).map(({ id, created }) => {
    expect(created).toBe(true);
    return id;
  });

/** Everyday work on everything the open transaction may have touched. Throws when any of it has to wait. */
async function everythingElse(round: number): Promise<void> {
  const named = (name: string) => `${name}-${round}`;
  const outcomes = await Promise.all(
    [...ways, ...ways].map((way) => submitter.submit(submissionOf(way), 10).then(({ kind }) => kind)),
  );
  expect(outcomes).toHaveLength(2 * ways.length);
  for (const way of ways)
    expect(["stored", "conflict"]).toContain((await enqueueAll(deps, [submissionOf(way)], options)).kind);
  const [first = "", second = "", third = ""] = await add(
    { type: "noop", group: named("own") },
    { type: "noop", group: named("own") },
    { type: "noop", group: named("own") },
  );
  const leases = await take([first]);
  expect(await extendLeases(deps, leases, 30)).toMatchObject({ lost: [], locked: [] });
  expect(await cancel(deps, "default", second)).toMatchObject({ kind: "cancelled" });
  expect(await complete(deps, [{ lease: leases[0] as Lease, result: null }])).toMatchObject([
    { kind: "applied", ready: [{ id: third }] },
  ]);
  expect(await retry(deps, "default", second)).toMatchObject({ kind: "retried", job: { status: "blocked" } });
  await recoverExpired(deps, 50);
  await admitAll(deps);
}

describe.each(Object.entries(waysToSubmit))("a transaction that stays open after it submitted: %s", (_name, job) => {
  test.each(["nothing there before", "its like there before"])("%s: nothing waits for it", async (before) => {
    if (before !== "nothing there before") await queue.submit(job);
    const submitted = await own.database.sql.begin(async (tx) => {
      const answer = await queue.submitIn(tx, job).catch((error: Error) => error);
      await everythingElse(0);
      return answer;
    });
    if (submitted instanceof Error) return expect(submitted.name).toBe("UniqueConflictError");
    await queue.announce(submitted);
    const row = await read(submitted.id);
    expect(row?.group_seq).not.toBe(0);
    if (row?.status === "cancelled") expect(row.last_error).toMatch(/job [0-9a-f-]{36}|asks for something else/);
  });
});

test("a transaction that stays open after it submitted a flow: nothing waits for it", async () => {
  const roots = [
    { type: "noop", group: "shared", ref: "grouped" },
    { type: "noop", unique: { key: "shared", on_conflict: "reject" }, ref: "unique" },
  ] as const;
  const submitted = await own.database.sql.begin(async (tx) => {
    const jobs = [...roots, { type: "noop", group: "shared", depends_on: ["grouped", "unique"] }];
    const answer = await queue.submitFlowIn(tx, { jobs, then: { type: "noop" } });
    await everythingElse(0);
    return answer;
  });
  await queue.announce(...submitted);
  const rows = await Promise.all(submitted.map(({ id }) => read(id)));
  // A job with the unique key was committed first.
  expect(rows.map((row) => row?.status)).toEqual(["blocked", "cancelled", "cancelled", "blocked"]);
});

test("ten run side by side while a transaction that replaces one of them stays open: all keep their leases and run once", async () => {
  const ids = await add(
    { type: "noop", unique: { key: "held", on_conflict: "replace" } },
    ...Array.from({ length: 9 }, () => ({ type: "noop" })),
  );
  const leases = await take(ids);
  const submitted = await own.database.sql.begin(async (tx) => {
    const answer = await queue.submitIn(tx, { type: "noop", unique: { key: "held", on_conflict: "replace" } });
    for (let beat = 0; beat < 20; beat += 1) {
      expect(await extendLeases(deps, leases, 30)).toMatchObject({ lost: [], locked: [] });
      await own.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
      expect(await recoverExpired(deps, 50)).toMatchObject({ requeued: [], dead: [] });
    }
    return answer;
  });
  await queue.announce(submitted);
  const outcomes = await completeAll(deps, leases);
  expect(outcomes.map(({ kind }) => kind)).toEqual(ids.map(() => "applied"));
  for (const id of ids) expect(await read(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  // What it asked for is done after all.
  expect(await read(submitted.id)).toMatchObject({ status: "queued" });
});

test("twenty other groups go on while a transaction adds to one and replaces a job that waits in it", async () => {
  const groups = Array.from({ length: 21 }, (_, at) => `g${at}`);
  const heads = await add(...groups.map((group) => ({ type: "noop", group })));
  const held = { type: "noop", group: "g0", unique: { key: "held", on_conflict: "replace" } } as const;
  const nexts = await add(held, ...groups.slice(1).map((group) => ({ type: "noop", group })));
  const leases = await take(heads);
  const submitted = await own.database.sql.begin(async (tx) => {
    const answers = [await queue.submitIn(tx, held), await queue.submitIn(tx, { type: "noop", group: "g0" })];
    const outcomes = await completeAll(deps, leases);
    const ready = outcomes.flatMap((one) => (one.kind === "applied" && one.ready) || []);
    expect(ready.map(({ id }) => id).toSorted()).toEqual(nexts.toSorted());
    return answers;
  });
  await queue.announce(...submitted);
  expect(await read(submitted[0]?.id ?? "")).toMatchObject({ status: "cancelled" });
  expect(await read(submitted[1]?.id ?? "")).toMatchObject({ status: "blocked", group_seq: 3 });
});

test("a process stopped in the middle of submitting holds nothing up, wherever it is", { tags: ["slow"] }, async () => {
  const script = fileURLToPath(new URL("../../../test/frozen-submitter.ts", import.meta.url));
  const child = await spawnProcess(script, { args: [own.url] });
  await child.waitForLine("submitting");
  for (let round = 0; round < 8; round += 1) {
    child.kill("SIGSTOP");
    await everythingElse(round);
    child.kill("SIGCONT");
    await queue.submit({ type: "between" });
  }
  await child.stop();
});
