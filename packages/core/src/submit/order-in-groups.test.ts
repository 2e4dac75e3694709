import { eventually, steppingDatabase, submission } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { createQueue, type Queue, type QueueJob } from "../queue.ts";
import { admitAll } from "../../test/advance.ts";
import { enqueue } from "./enqueue.ts";

// Of jobs that are submitted together, one that must be looked at again, as what its keys name has changed meanwhile, is not
// overtaken by the next of its group.

const { deps, besideLock, url, read, statuses, take, finish } = engineHarness();
let queue: Queue;
beforeAll(() => void (queue = createQueue({ databaseUrl: url() })));
afterAll(() => queue.close());

const options = { idempotency_ttl_seconds: 60 };
const next = { type: "noop", group: "g" };
const replacing = { ...next, unique: { key: "k", on_conflict: "replace" } } as const;

const arrive = (...jobs: QueueJob[]): Promise<string[]> =>
  deps.database.sql.begin(async (tx) => {
    const ids: string[] = [];
    for (const job of jobs) ids.push((await queue.submitIn(tx, job)).id);
    return ids;
  });
/** Also those that were put off. */
const admitNow = async () => {
  await deps.database.sql`UPDATE atlasqueue.outbox SET not_before = '-infinity'`;
  await admitAll(deps);
};
const placeOf = async (id: string | undefined) => Number((await read(id))?.group_seq ?? 0);

/** Somebody else acts once, between the look at the keys and the statement. */
function betweenLookAndStatement(act: () => Promise<unknown>) {
  let acted = false;
  const database = steppingDatabase(deps.database, async (kind, _n, text) => {
    if (acted || kind !== "statement" || !text.includes("holders AS MATERIALIZED")) return;
    acted = true;
    await act();
  });
  return { database, acted: () => acted };
}

test("in a caller's transaction: what it replaces has started", async () => {
  const { id } = await queue.submit(replacing);
  const [second, third] = await arrive({ ...replacing, payload: { n: 2 } }, next);
  const { database, acted } = betweenLookAndStatement(() => take(id));
  await admitAll({ ...deps, database });
  await admitNow();
  expect(acted()).toBe(true);
  expect(await placeOf(second)).toBeGreaterThan(0);
  expect(await placeOf(second)).toBeLessThan(await placeOf(third));
});

test("in a caller's transaction: somebody has taken its key, and is done", async () => {
  const job = { type: "noop", unique: { key: "k", on_conflict: "replace" } } as const;
  const [first = "", second = ""] = await arrive({ ...job, group: "g" }, next);
  const { database, acted } = betweenLookAndStatement(async () => finish((await queue.submit(job)).id));
  await admitAll({ ...deps, database });
  await admitNow();
  expect(acted()).toBe(true);
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
});

test("in one call: what it replaces has started", async () => {
  const { id } = await queue.submit(replacing);
  const { database, acted } = betweenLookAndStatement(() => take(id));
  const together = [submission({ ...replacing, payload: { n: 2 } }), submission(next)];
  const outcomes = await enqueue({ ...deps, database }, together, options);
  const [second, third] = outcomes.map((one) => ("job" in one ? one.job.id : undefined));
  expect(acted()).toBe(true);
  expect(await placeOf(second)).toBeGreaterThan(0);
  expect(await placeOf(second)).toBeLessThan(await placeOf(third));
});

test("in one call: somebody has taken its key, and the next one has taken its own keys by then", async () => {
  const job = { type: "noop", unique: { key: "k", on_conflict: "replace" } } as const;
  const follower = { ...next, unique: { key: "other", on_conflict: "return" } } as const;
  const { database, acted } = betweenLookAndStatement(async () => finish((await queue.submit(job)).id));
  const together = [submission({ ...job, group: "g" }), { ...submission(follower), idempotency_key: "own" }];
  const outcomes = await enqueue({ ...deps, database }, together, options);
  expect(acted()).toBe(true);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["created", "created"]);
  const [first = "", second = ""] = outcomes.map((one) => ("job" in one ? one.job.id : ""));
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
  // They name it now.
  expect((await queue.submit(follower)).id).toBe(second);
  const again = await enqueue(deps, [{ ...submission(follower), idempotency_key: "own" }], options);
  expect(again).toMatchObject([{ kind: "replayed", job: { id: second } }]);
});

test("in one call: its idempotency key was another job's, and has expired", async () => {
  const keyed = { ...submission(next), idempotency_key: "spent" };
  await enqueue(deps, [{ ...submission({ type: "noop" }), idempotency_key: "spent" }], options);
  await deps.database.sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now() - interval '1 s'`;
  const outcomes = await enqueue(deps, [keyed, submission(next)], options);
  const [first = "", second = ""] = outcomes.map((one) => ("job" in one ? one.job.id : ""));
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
});

test("in a caller's transaction: it was to end, as its key was another job's, and another transaction has locked it", async () => {
  const { id } = await queue.submit({ type: "noop", unique: { key: "k" } });
  const [first = "", second = ""] = await arrive({ ...next, unique: { key: "k" } }, next);
  await besideLock(
    (sql) => sql`SELECT FROM atlasqueue.jobs WHERE id = ${first} FOR UPDATE`,
    async () => {
      await admitNow();
      expect(await statuses(first, second)).toEqual(["blocked", "blocked"]);
    },
  );
  await finish(id);
  await admitNow();
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
});

test("in one call: its idempotency key has expired, and another transaction has locked the key", async () => {
  await enqueue(deps, [{ ...submission({ type: "noop" }), idempotency_key: "spent" }], options);
  await deps.database.sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now() - interval '1 s'`;
  const together = [{ ...submission(next), idempotency_key: "spent" }, submission(next)];
  let looked = false;
  let enqueued: ReturnType<typeof enqueue> | undefined;
  await besideLock(
    (sql) => sql`SELECT FROM atlasqueue.idempotency_keys FOR UPDATE`,
    async () => {
      const database = steppingDatabase(deps.database, async (kind, _n, text) => {
        looked ||= kind === "statement" && text.includes("INSERT INTO atlasqueue.jobs");
      });
      enqueued = enqueue({ ...deps, database }, together, options);
      await eventually(() => expect(looked).toBe(true));
    },
  );
  const outcomes = (await enqueued) ?? [];
  const [first = "", second = ""] = outcomes.map((one) => ("job" in one ? one.job.id : ""));
  expect(await statuses(first, second)).toEqual(["queued", "blocked"]);
});

test("in a caller's transaction: many of a group that meet each other's keys are all admitted in one go", async () => {
  const pairs = Array.from(
    { length: 20 },
    (_, at) => ({ ...next, unique: { key: `k${at >> 1}`, on_conflict: "return" } }) as const,
  );
  const ids = await arrive(...pairs);
  await admitNow();
  expect(await deps.database.sql`SELECT FROM atlasqueue.outbox`).toEqual([]);
  expect(await statuses(...ids.slice(0, 4))).toEqual(["queued", "cancelled", "blocked", "cancelled"]);
});
