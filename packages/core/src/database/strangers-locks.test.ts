import { setTimeout as delay } from "node:timers/promises";
import { forFile, recordEvents, submission, testDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { failureOf } from "../../test/failure-of.ts";
import { openDatabase } from "../../test/opened.ts";
import { countDrift } from "../counts/job-checks.ts";
import { foldCounts } from "../counts/fold.ts";
import type { Deps } from "../deps.ts";
import { claim } from "../lease/claim.ts";
import { heartbeat } from "../lease/extend.ts";
import { setLimits } from "../limits/set.ts";
import { complete } from "../settle/settle.ts";
import { enqueue } from "../submit/enqueue.ts";
import { isUnavailable } from "./errors.ts";

// Somebody opens a transaction in a console, locks what is ours, and goes to lunch.

const timeout_ms = 1_000;
const own = forFile(testDatabase);
let deps: Deps;
beforeEach(async () => {
  await own.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.idempotency_keys, atlasqueue.claims, atlasqueue.queues, atlasqueue.queue_counts, atlasqueue.queue_changes`;
  const database = openDatabase({ url: own.url, connectionsMax: 4, timeoutMs: timeout_ms });
  deps = { database, observe: recordEvents().observe };
  const limits = { concurrency: 2, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  await setLimits(deps, { tenant: "default", queue: "limited" }, limits);
});

const options = { idempotency_ttl_seconds: 60 };
const add = async (queue: string, key?: string): Promise<string> => {
  const [outcome] = await enqueue(deps, [submission({ queue }, key)], options);
  return outcome && "job" in outcome ? outcome.job.id : "";
};
const take = (id: string) =>
  claim(deps, [id], { tenant: "default", queues: ["free", "limited"], worker_id: "w", lease_seconds: 60 });
/** Submitted, claimed and settled. */
async function runs(queue: string): Promise<boolean> {
  const [lease] = await take(await add(queue));
  return lease !== undefined && (await complete(deps, [{ lease, result: null }]))[0]?.kind === "applied";
}
/** Refused as unavailable, soon enough: the caller may try again. */
async function refusesInTime(work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const error = await failureOf(work());
  expect(isUnavailable(error), String(error)).toBe(true);
  expect(performance.now() - began).toBeLessThan(timeout_ms * 5);
}
async function beside(lock: string, work: () => Promise<void>): Promise<void> {
  await own.database.sql.begin(async (stranger) => {
    await stranger.unsafe(lock);
    await work();
  });
}
async function allIsWell(): Promise<void> {
  expect([await runs("free"), await runs("limited")]).toEqual([true, true]);
  while ((await foldCounts(deps, 1_000)) > 0);
  expect((await countDrift(deps, 10_000)).drifted).toEqual([]);
}

test("a locked row of a queue holds up only its own claims, if it has limits, and its settings", async () => {
  const waiting = await add("limited");
  await beside("SELECT FROM atlasqueue.queues FOR UPDATE", async () => {
    expect(await runs("free")).toBe(true);
    expect(await take(waiting)).toEqual([]);
    const limits = { concurrency: 5, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
    await refusesInTime(() => setLimits(deps, { tenant: "default", queue: "limited" }, limits));
  });
  expect(await take(waiting)).toHaveLength(1);
  await allIsWell();
});

/** Callers of one kind, again and again, until the end of the work: each at times of its own, as otherwise all give up at once. */
async function amid(callers: number, call: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  let over = false;
  const keepCalling = async (): Promise<void> => {
    for (let rest_ms = timeout_ms; !over; rest_ms = timeout_ms / 4) {
      await delay(rest_ms * Math.random());
      await call().catch(() => {});
    }
  };
  const all = Array.from({ length: callers }, keepCalling);
  await work().finally(() => (over = true));
  await Promise.all(all);
}

test("heartbeats of locked jobs, however many, leave the others a connection", async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => add("held")));
  const leases = await claim(deps, ids, { tenant: "default", queues: ["held"], worker_id: "w", lease_seconds: 60 });
  expect(leases).toHaveLength(40);
  let next = 0;
  const beat = () => {
    const { id, lease_token } = leases[(next += 1) % leases.length] as (typeof leases)[number];
    return heartbeat(deps, "default", { id, lease_token, lease_seconds: 60 });
  };
  await beside("SELECT FROM atlasqueue.jobs WHERE queue = 'held' FOR UPDATE", () =>
    amid(40, beat, async () => {
      await refusesInTime(beat);
      for (let round = 0; round < 3; round += 1) expect(await runs("free")).toBe(true);
    }),
  );
  expect(await beat()).toMatchObject({ kind: "extended" });
});

test.each(["queue_changes", "jobs"])(
  "while the table %s is locked, what needs it is refused in time; then everything goes on, nothing done twice",
  { tags: ["slow"] },
  async (table) => {
    const running = await add("free");
    const [lease] = await take(running);
    const waiting = await add("free");
    await beside(`LOCK TABLE atlasqueue.${table}`, async () => {
      await refusesInTime(() => add("free", "order-17"));
      await refusesInTime(() => take(waiting));
      await refusesInTime(() => complete(deps, lease ? [{ lease, result: null }] : []));
    });
    expect(await add("free", "order-17")).toBe(await add("free", "order-17"));
    expect(await own.database.sql`SELECT FROM atlasqueue.idempotency_keys`).toHaveLength(1);
    expect(await take(waiting)).toMatchObject([{ attempts: 1 }]);
    expect(lease && (await complete(deps, [{ lease, result: null }]))[0]).toEqual({ kind: "applied" });
    await allIsWell();
  },
);
