import { eventually, forFile, steppingDatabase, submission } from "@atlasqueue/harness";
import type { TransactionSql } from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { admitAll, handlersFor } from "../../../test/advance.ts";
import { engineHarness } from "../../../test/engine-harness.ts";
import { executeOn } from "../../database/statement.ts";
import { createFollowUps, type FollowUps } from "../../follow-ups.ts";
import { createDrainer } from "../../outbox/drainer.ts";
import { drainPage } from "../../outbox/drain-page.ts";
import { createQueue, type QueueJob } from "../../queue.ts";
import { draft } from "../drafts.ts";
import { deferInsert } from "./defer-insert.ts";

const { deps, besideLock, url, read, statuses } = engineHarness();

const queue = forFile(async () => createQueue({ databaseUrl: url() }));
let followUps: FollowUps;
beforeEach(() => void (followUps = createFollowUps(deps)));
afterEach(() => followUps.stop());

const inside = (...jobs: QueueJob[]): Promise<string[]> =>
  deps.database.sql.begin(async (tx) => {
    const ids: string[] = [];
    for (const job of jobs) ids.push((await queue.submitIn(tx, job)).id);
    return ids;
  });
const grouped = { type: "noop", group: "g" };
const hot = { type: "noop", unique: { key: "hot", on_conflict: "return" } } as const;
const left = async () =>
  (await deps.database.sql<{ key: string }[]>`SELECT key FROM atlasqueue.outbox ORDER BY id`).map(({ key }) => key);
const due = () => deps.database.sql`UPDATE atlasqueue.outbox SET not_before = '-infinity'`;
/** In the order of the group: the first is the one that may run. */
const order = async (group = "g") =>
  (
    await deps.database.sql<{ id: string }[]>`
      SELECT id FROM atlasqueue.jobs WHERE group_key = ${group} AND status IN ('queued', 'blocked') ORDER BY coalesce(group_seq, 0)`
  ).map(({ id }) => id);

test("jobs get their places in a group in the order in which their transactions commit", async () => {
  const ids: string[] = [];
  await deps.database.sql.begin(async (late) => {
    const [first = ""] = [(await queue.submitIn(late, grouped)).id];
    ids.push(...(await inside(grouped, grouped)));
    await admitAll(deps);
    ids.push(first);
  });
  await admitAll(deps);
  expect(await order()).toEqual(ids);
});

test("of transactions that overlapped, in the order in which they were submitted", async () => {
  const [first = ""] = await deps.database.sql.begin(async (outer) => {
    const { id } = await queue.submitIn(outer, grouped);
    return [id, ...(await inside())];
  });
  const [second = "", third = ""] = await inside(grouped, grouped);
  await admitAll(deps);
  expect(await order()).toEqual([first, second, third]);
});

test.each(["statement", "commit"] as const)("two drainers, one stopped before its %s, keep the order", async (step) => {
  const ids = await inside(grouped, grouped, grouped);
  const [other = ""] = await inside({ type: "noop", group: "other" });
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  let admits = false;
  let stopped = false;
  const database = steppingDatabase(deps.database, async (kind, _n, text) => {
    admits ||= text.includes("holders AS MATERIALIZED");
    if (stopped || !admits || kind !== step) return;
    stopped = true;
    await gone;
  });
  const first = drainPage({ database }, handlersFor({ ...deps, database }), 1);
  await eventually(() => expect(stopped).toBe(true));
  await admitAll(deps);
  expect(await statuses(...ids)).toEqual(["blocked", "blocked", "blocked"]);
  expect(await statuses(other)).toEqual(["queued"]);
  go();
  await first;
  await admitAll(deps);
  expect(await order()).toEqual(ids);
});

test("a job submitted on its own to a group waits behind those that were committed before", async () => {
  const [first = "", second = ""] = await inside(grouped, grouped);
  const third = await queue.submit(grouped);
  expect(third).toMatchObject({ status: "blocked", created: true });
  const free = await queue.submit({ ...grouped, group: "other" });
  expect(free.status).toBe("queued");
  await followUps.drain();
  expect(await order()).toEqual([first, second, third.id]);
  expect(await left()).toEqual([]);
});

test("and is counted once", async () => {
  await inside(grouped);
  await queue.submit(grouped);
  const counted: string[] = [];
  await admitAll(deps, {
    admitted: async ({ outcomes, counted: before }) =>
      void counted.push(...outcomes.flatMap((one) => ("job" in one && !before.has(one.job.id) ? one.kind : []))),
  });
  expect(counted).toEqual(["created"]);
});

const holds: {
  name: string;
  before: () => Promise<unknown>;
  lock: (sql: TransactionSql) => Promise<unknown>;
  job: QueueJob;
}[] = [
  {
    name: "a group",
    before: () => queue.submit(grouped),
    lock: (sql) => sql`SELECT FROM atlasqueue.job_groups FOR UPDATE`,
    job: { type: "noop" },
  },
  {
    name: "a unique key",
    before: async () => {
      await queue.submit(hot);
      await deps.database.sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now()`;
    },
    lock: (sql) => sql`SELECT FROM atlasqueue.jobs WHERE unique_key IS NOT NULL FOR UPDATE`,
    job: hot,
  },
  {
    name: "a unique key that is new",
    before: async () => {},
    // No look sees it, so what waits for it waits unannounced.
    lock: (sql) => sql`
      INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, payload, finished_at, unique_key)
      VALUES (gen_random_uuid(), 'noop', 'cancelled', now(), now(), now(), '{}', now(), 'key:hot')`,
    job: hot,
  },
  {
    name: "an idempotency key",
    before: async () => {},
    lock: (sql) => sql`
      INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
      VALUES ('default', 'hot', '\\x00', gen_random_uuid(), now() + interval '1 hour')`,
    job: { type: "noop", idempotency_key: "hot" },
  },
];
test.each(holds)(
  "$name in a stranger's hands holds up only those that want it, and those behind them in their groups",
  { tags: ["slow"] },
  async ({ before, lock, job }) => {
    await before();
    const groups = (name: string) =>
      Array.from({ length: 30 }, (_, at): QueueJob => ({ type: "noop", group: `${name}-${at}` }));
    const ids = await inside(...groups("before"), { ...job, group: "g" }, ...groups("after"), grouped);
    const held = [ids[30] ?? "", ids[61] ?? ""];
    await besideLock(lock, async () => {
      await admitAll(deps);
      expect(await left()).toEqual(held);
      held.push((await queue.submit(grouped)).id);
      await admitAll(deps);
      expect(await left()).toEqual(held);
    });
    await due();
    await admitAll(deps);
    expect((await order()).slice(-3)).toEqual(held);
  },
);

test("a group that is locked only for a moment, as a busy one often is, is waited for", async () => {
  await queue.submit(grouped);
  const ids = await inside(grouped, { ...grouped, group: "other" });
  let let_go = (): void => {};
  const gone = new Promise<void>((resolve) => (let_go = resolve));
  const locked = Promise.withResolvers<void>();
  const holder = deps.database.sql.begin(async (busy) => {
    await busy`SELECT FROM atlasqueue.job_groups WHERE group_key = 'g' FOR UPDATE`;
    locked.resolve();
    await gone;
  });
  await locked.promise;
  let looked = false;
  const database = steppingDatabase(deps.database, async (_step, _n, text) => {
    if (looked) let_go();
    looked ||= text.includes("AS group_is_free");
  });
  await admitAll({ ...deps, database });
  await holder;
  expect(await left()).toEqual([]);
  expect((await order())[1]).toBe(ids[0]);
});

test("a key is found although its job is admitted between two looks at it", async () => {
  const job = { type: "noop", group: "g", idempotency_key: "k" };
  const [first] = await inside(job);
  const again = await deps.database.sql.begin((tx) => {
    let looks = 0;
    const unsafe = async (text: string, params?: never[]) => {
      const rows = await tx.unsafe(text, params);
      looks += 1;
      if (looks === 1) await admitAll(deps);
      return rows;
    };
    return queue.submitIn({ unsafe }, job);
  });
  expect(again).toMatchObject({ id: first, created: false });
});

test("jobs in the hands of two drainers that share a key: one is the job, and the other ends", async () => {
  const keyed = { type: "noop", idempotency_key: "k" };
  // Neither transaction sees the other's.
  const ids = await deps.database.sql.begin(async (tx) => {
    const { id } = await queue.submitIn(tx, { ...keyed, group: "a" });
    return [id, ...(await inside({ ...keyed, group: "a" }))];
  });
  const drainers = [createDrainer(deps, handlersFor(deps)), createDrainer(deps, handlersFor(deps))];
  await Promise.all(drainers.map((one) => one.drain()));
  for (const one of drainers) one.stop();
  expect((await statuses(...ids)).toSorted()).toEqual(["cancelled", "queued"]);
  expect((await read(ids[1] ?? ""))?.last_error ?? (await read(ids[0] ?? ""))?.last_error).toMatch(
    "IdempotencyReplayed",
  );
});

test("a tenant's one job does not wait for another's thousand, in as many groups or in one", async () => {
  const ofTenant = async (tenant: string, count: number, groups: number) => {
    const drafts = Array.from({ length: count }, (_, at) =>
      draft({ ...submission({ group: `${groups}-${at % groups}` }), tenant }),
    );
    await deferInsert(executeOn(deps.database), drafts, 60);
    return drafts.map(({ id }) => id);
  };
  await ofTenant("greedy", 600, 600);
  const in_one = await ofTenant("greedy", 400, 1);
  await ofTenant("modest", 1, 1);
  const tenants: string[] = [];
  await admitAll(deps, {
    admitted: async ({ outcomes }) =>
      void tenants.push(...outcomes.flatMap((one) => ("job" in one ? one.job.tenant : []))),
  });
  expect(tenants).toHaveLength(1_001);
  expect(tenants.indexOf("modest")).toBeLessThan(500);
  expect(await order("1-0")).toEqual(expect.arrayContaining(in_one));
  const places = await deps.database.sql<{ id: string }[]>`
    SELECT id FROM atlasqueue.jobs WHERE tenant = 'greedy' AND group_key = '1-0' ORDER BY active_group_key, group_seq`;
  expect(places.map(({ id }) => id)).toEqual(in_one);
});
