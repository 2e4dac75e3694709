import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "@atlasqueue/testing";
import { engineHarness } from "../../../test/engine-harness.ts";
import { connectDatabase, type Database } from "../../database/connect.ts";
import { inTransaction } from "../../database/transaction.ts";
import { createFollowUps, type FollowUps } from "../../follow-ups.ts";
import { createQueue, type Queue, type QueueJob } from "../../queue.ts";
import { readArrived } from "./arrived-rows.ts";
import { admit } from "./admit.ts";
import { admitAll, admitHeld, admitThese } from "./admitter.ts";

const { deps, url, read, statuses } = engineHarness();

let queue: Queue;
let followUps: FollowUps;
/** Whoever waits for a stranger here waits until the test gives up. */
let patient: Database;
beforeAll(() => {
  queue = createQueue({ databaseUrl: url() });
  patient = connectDatabase({ url: url(), connectionsMax: 8, timeoutMs: 300_000 });
});
afterAll(async () => {
  await queue.close();
  await patient.close();
});
beforeEach(() => {
  followUps = createFollowUps(deps);
});
afterEach(() => followUps.stop());
const admitting = (database = patient) => ({ ...deps, database, followUps });

const hot = { type: "noop", unique: { key: "hot", on_conflict: "return" } } as const;
const arrive = (...jobs: QueueJob[]): Promise<string[]> =>
  deps.database.sql.begin(async (tx) => {
    const ids: string[] = [];
    for (const job of jobs) ids.push((await queue.submitIn(tx, job)).id);
    return ids;
  });
const inGroups = (name: string): QueueJob[] =>
  Array.from({ length: 30 }, (_, at) => ({ type: "noop", group: `${name}-${at}` }));
const left = async () =>
  (await deps.database.sql<{ job_id: string }[]>`SELECT job_id FROM atlasqueue.arrivals ORDER BY job_id`).map(
    ({ job_id }) => job_id,
  );
const waitingForLocks = () =>
  deps.database
    .sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`;
const placeOf = async (id: string | undefined) => Number((await read(id))?.group_seq ?? 0);
/** The key's row, of a job that has ended. */
const spendKey = async () => {
  await queue.submit(hot);
  await deps.database.sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now()`;
};

/** While a stranger's transaction holds something. It is rolled back in the end. */
const beside = async (lock: (sql: Database["sql"]) => Promise<unknown>, during: () => Promise<void>): Promise<void> => {
  const undone = new Error("undone");
  const open = deps.database.sql.begin(async (stranger) => {
    await lock(stranger as never);
    await during();
    throw undone;
  });
  await expect(open).rejects.toBe(undone);
};
const lockKeys = async (sql: Database["sql"]) =>
  expect(await sql`SELECT FROM atlasqueue.unique_keys FOR UPDATE`).toHaveLength(1);
/** No look sees it, so what waits for it waits unannounced. */
const takeKey = (sql: Database["sql"]) => sql`
  INSERT INTO atlasqueue.unique_keys (tenant, queue, key, job_id, check_at)
  VALUES ('default', 'default', 'key:hot', gen_random_uuid(), now() + interval '1 hour')`;
const takeIdempotencyKey = (sql: Database["sql"]) => sql`
  INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
  VALUES ('default', 'hot', '\\x00', gen_random_uuid(), now() + interval '1 hour')`;

test.each([
  { name: "a unique key", before: spendKey, lock: lockKeys, job: hot },
  { name: "a unique key that is new", before: async () => {}, lock: takeKey, job: hot },
  {
    name: "an idempotency key",
    before: async () => {},
    lock: takeIdempotencyKey,
    job: { type: "noop", idempotency_key: "hot" },
  },
])(
  "$name in a stranger's hands holds up only those that want it, and their groups",
  { tags: ["slow"] },
  async ({ before, lock, job }) => {
    await before();
    const ids = await arrive(...inGroups("before"), { ...job, group: "g" }, ...inGroups("after"), {
      type: "noop",
      group: "g",
    });
    const held = [ids[30] ?? "", ids[61] ?? ""];
    await beside(lock, async () => {
      expect((await admitAll(admitting())).held.map(({ id }) => id).toSorted()).toEqual(held);
      expect(await left()).toEqual(held);
    });
    await admitAll(admitting());
    expect(await statuses(...held)).toEqual(["queued", "blocked"]);
  },
);

test("a job does not overtake one of its group that waits for a key, in whichever process", async () => {
  const [first = "", second = ""] = await arrive({ ...hot, group: "g" }, { type: "noop", group: "g" });
  let waiting: Promise<void> | undefined;
  await beside(takeKey, async () => {
    waiting = admitHeld(admitting(), [first]);
    await eventually(async () => expect(await waitingForLocks()).toHaveLength(1));
    await admitThese(admitting(), [second]);
    expect(await left()).toEqual([first, second]);
  });
  await waiting;
  await admitAll(admitting());
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
});

test("what waits for a key in vain is not overtaken by the next of its group either", async () => {
  await spendKey();
  const ids = await arrive({ type: "noop", group: "g" }, { ...hot, group: "g" }, { type: "noop", group: "g" });
  const hasty = connectDatabase({ url: url(), connectionsMax: 2, timeoutMs: 1_000 });
  await beside(lockKeys, async () => {
    await expect(admitHeld(admitting(hasty), ids)).rejects.toThrow("did not answer in 1000 ms");
    expect((await left()).slice(-2)).toEqual(ids.slice(1));
  });
  await hasty.close();
  await admitAll(admitting());
  expect(await statuses(...ids)).toEqual(["queued", "blocked", "blocked"]);
  expect(await placeOf(ids[1])).toBeLessThan(await placeOf(ids[2]));
});

test("a job that meets an earlier one's unique key, and waits for it, is not overtaken by the next of its group", async () => {
  const jobs: QueueJob[] = [hot, { ...hot, group: "g" }, { type: "noop", group: "g" }];
  const [one = "", two = "", three = ""] = await arrive(...jobs);
  const { outcomes, left: again } = await admit(deps, [one, two, three]);
  expect(outcomes).toMatchObject([{ kind: "created", job: { id: one } }]);
  expect([...again.keys()]).toEqual([two, three]);
  await deps.database
    .sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now() WHERE id = ${one}`;
  await admitAll(admitting());
  expect(await statuses(two, three)).toEqual(["queued", "blocked"]);
});

test("what is read of arrivals is read without a lock, as nobody may be there to take it", async () => {
  await spendKey();
  await queue.submit({ type: "noop", group: "g" });
  const ids = await arrive({ ...hot, group: "g" });
  await inTransaction(patient, async (execute) => {
    expect(await readArrived(execute, ids)).toHaveLength(1);
    expect(await deps.database.sql`SELECT FROM atlasqueue.job_groups FOR UPDATE SKIP LOCKED`).toHaveLength(1);
    expect(await deps.database.sql`SELECT FROM atlasqueue.unique_keys FOR UPDATE SKIP LOCKED`).toHaveLength(1);
  });
  expect((await admitAll(admitting())).admitted).toBe(1);
});
