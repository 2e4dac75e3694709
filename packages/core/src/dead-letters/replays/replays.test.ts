import { limits, type Actor, type ReplayFilter } from "@atlasqueue/contract";
import {
  brokenConnection,
  eventually,
  recordEvents,
  steppingDatabase,
  submission,
  testDatabase,
  type Step,
  type TestDatabase,
} from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test, vi, type Mock } from "vitest";
import type { ReplayRow } from "../../database/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { createFollowUps, type FollowUps } from "../../follow-ups.ts";
import { claim } from "../../lease/claim.ts";
import { createLogger } from "../../observe/log.ts";
import { fail } from "../../settle/fail.ts";
import { memorySignal } from "../../signal/memory/signal.ts";
import type { Signal } from "../../signal/signal.ts";
import { enqueueAll } from "../../submit/enqueue-all.ts";
import { replayAll } from "../bulk.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { carryOnReplays } from "./carry-on.ts";
import { createReplay, previewReplay, type ReplayWish } from "./create.ts";
import { findReplay, listReplays } from "./find.ts";
import { steerReplay } from "./steer.ts";
import type { OnRevived } from "../replay.ts";
import { stepReplay } from "./step.ts";

let own: TestDatabase;
let deps: Deps;
let sql: TestDatabase["database"]["sql"];
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
  sql = own.database.sql;
});
afterAll(() => own.drop());
beforeEach(() => sql`TRUNCATE jobs, job_attempts, lease_batches, dead_letter_replays, job_groups, group_handovers`);

const tenant = "default";
const anybody: Actor = { kind: "anybody", token_id: null, name: null };
/** Jobs that died one after another, each with its number as payload. */
const dead = (count: number, { type = "mail", error = "E", of = tenant } = {}) => sql`
  INSERT INTO jobs (id, tenant, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, last_error, error_fingerprint)
  SELECT gen_random_uuid(), ${of}, ${type}, 'dead', now(), now(), now(), now(), now() - (1 + n) * interval '1 second',
         json_build_object('n', n, 'old', true), ${error}, ${fingerprintOf(error)}
  FROM generate_series(1, ${count}::int) AS n`;
const start = async (wish: Partial<ReplayWish> & { filter: ReplayFilter }): Promise<ReplayRow> => {
  const row = await createReplay(deps, { tenant, ...wish }, anybody);
  if (!row) throw new Error("too many");
  return row;
};
const step = (on: Deps = deps, onRevived: OnRevived = async () => {}) => stepReplay(on, onRevived);
/** Pages until none is due, as if no time passed between them. */
const carryOut = async (on: Deps = deps): Promise<void> => {
  for (let page = 0; page < 100; page += 1) {
    await sql`UPDATE dead_letter_replays SET next_at = least(next_at, now())`;
    if (!(await step(on))) return;
  }
  throw new Error("no end");
};
const carryOutDue = async (): Promise<void> => {
  while (await step());
};
const look = async ({ id }: ReplayRow) => (await findReplay(deps, tenant, id)) as ReplayRow;
const statuses = async (of = tenant) => {
  const rows = await sql`SELECT status, count(*)::int AS count FROM jobs WHERE tenant = ${of} GROUP BY status`;
  return Object.fromEntries(rows.map(({ status, count }) => [String(status), Number(count)]));
};

test("a replay goes over all that match, page by page, and says how far it has come", async () => {
  await dead(1_200);
  await dead(30, { type: "sms" });
  await dead(20, { of: "other" });
  const row = await start({ filter: { type: "mail" } });
  expect(row).toMatchObject({
    state: "running",
    matched: 1_200,
    matched_complete: true,
    replayed: 0,
    made_by: anybody,
  });
  await step();
  expect(await look(row)).toMatchObject({ state: "running", replayed: 500 });
  await carryOut();
  const done = await look(row);
  expect(done).toMatchObject({ state: "done", replayed: 1_200, left_over: 0 });
  expect(done.finished_at).toBeInstanceOf(Date);
  expect(await statuses()).toEqual({ queued: 1_200, dead: 30 });
  expect(await statuses("other")).toEqual({ dead: 20 });
});

test.each<[string, ReplayFilter, number]>([
  ["ids", { ids: [] }, 700],
  ["fingerprint", { fingerprint: fingerprintOf("Odd: 7") }, 3],
  ["queue", { queue: "default" }, 703],
  ["everything", { all: true }, 703],
  ["what died before a time", { died_before: "2020-01-01T00:00:00.000Z" }, 0],
])("a replay can be chosen by %s", async (_what, filter, count) => {
  await dead(700);
  const ids = (await sql`SELECT id FROM jobs`).map(({ id }) => String(id));
  await dead(3, { error: "Odd: 1" });
  const row = await start({ filter: filter.ids ? { ids } : filter });
  expect(row.matched).toBe(count);
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: count, left_over: 0 });
  expect((await statuses()).queued ?? 0).toBe(count);
});

test("what dies while a replay runs is not replayed by it: neither for the first time nor again", async () => {
  await dead(600);
  const row = await start({ filter: { all: true } });
  await step();
  const [one] = await sql`SELECT id, queue FROM jobs WHERE status = 'queued' LIMIT 1`;
  const claimer = { tenant, queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const [lease] = await claim(deps, [String(one?.id)], claimer);
  if (!lease) throw new Error("not claimed");
  await fail(deps, [{ lease, error: "again", verdict: { kind: "dead", reason: "not_retryable" } }]);
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: 600, left_over: 0 });
  expect(await statuses()).toEqual({ queued: 599, dead: 1 });
});

test("a dry run counts, shows one job before and after the patch, and changes nothing", async () => {
  await dead(40);
  const before = await sql`SELECT * FROM jobs ORDER BY id`;
  const seen = await previewReplay(deps, { tenant, filter: { type: "mail" }, patch: { old: null, relay: { a: 1 } } });
  expect(seen).toMatchObject({
    matched: 40,
    complete: true,
    sample: {
      type: "mail",
      queue: "default",
      before: { n: 40, old: true },
      after: { n: 40, relay: { a: 1 } },
      fits: true,
    },
  });
  expect(seen.sample?.after).not.toHaveProperty("old");
  expect(await previewReplay(deps, { tenant, filter: { type: "none" } })).toEqual({
    matched: 0,
    complete: true,
    sample: null,
  });
  expect(await sql`SELECT * FROM jobs ORDER BY id`).toEqual(before);
  expect((await listReplays(deps, tenant, 10, undefined)).rows).toEqual([]);
});

test("the patch is in every replayed payload; a job it makes too large stays dead, as it was", async () => {
  await dead(3);
  const text = "x".repeat(limits.payload_bytes_max - 100);
  await sql`UPDATE jobs SET payload = ${sql.json({ n: 0, text })} WHERE payload ->> 'n' = '2'`;
  const row = await start({ filter: { type: "mail" }, patch: { old: null, added: "y".repeat(200) } });
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: 2, left_over: 1 });
  const payloads = await sql`SELECT status, payload FROM jobs ORDER BY status, payload ->> 'n'`;
  expect(payloads).toEqual([
    { status: "dead", payload: { n: 0, text } },
    { status: "queued", payload: { n: 1, added: "y".repeat(200) } },
    { status: "queued", payload: { n: 3, added: "y".repeat(200) } },
  ]);
});

test("a patched page is no heavier than a claim; a replay whose page fails leaves the others their turn", async () => {
  await dead(40, { of: "heavy" });
  await dead(3);
  const wish = { tenant: "heavy", filter: { all: true as const }, patch: { old: false } };
  const heavy = (await createReplay(deps, wish, anybody)) as ReplayRow;
  const heavyNow = async () => (await findReplay(deps, "heavy", heavy.id)) as ReplayRow;
  await step();
  expect(await heavyNow()).toMatchObject({ state: "running", replayed: 16 });

  const light = await start({ filter: { all: true } });
  await sql`ALTER TABLE jobs ADD CONSTRAINT broken CHECK (tenant <> 'heavy' OR status <> 'queued') NOT VALID`;
  try {
    await sql`UPDATE dead_letter_replays SET next_at = now() - interval '1 second' WHERE id = ${heavy.id}`;
    await expect(step()).rejects.toThrow("broken");
    await carryOutDue();
  } finally {
    await sql`ALTER TABLE jobs DROP CONSTRAINT broken`;
  }
  expect(await look(light)).toMatchObject({ state: "done", replayed: 3 });
  expect(await heavyNow()).toMatchObject({ state: "running", replayed: 16 });
  expect((await heavyNow()).next_at.getTime()).toBeGreaterThan(Date.now() + 5_000);
  await carryOut();
  expect(await heavyNow()).toMatchObject({ state: "done", replayed: 40, left_over: 0 });
});

test("a replay with a rate does as many a second, and no page before its time", async () => {
  await dead(50);
  const row = await start({ filter: { all: true }, rate: 10 });
  await step();
  expect((await look(row)).replayed).toBe(10);
  await step();
  // What the first page took is paid for with a second; up to one may be made up for.
  const { replayed, next_at } = await look(row);
  expect(replayed).toBeLessThanOrEqual(20);
  const [clock] = await sql<{ now_ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms`;
  const now_ms = clock?.now_ms ?? 0;
  expect(next_at.getTime()).toBeGreaterThan(now_ms - 1_000);
  const slow = await start({ filter: { all: true }, rate: 0.1 });
  await sql`UPDATE dead_letter_replays SET next_at = now() + interval '1 hour' WHERE id = ${row.id}`;
  await step();
  const after = await look(slow);
  expect(after.replayed).toBe(1);
  expect(after.next_at.getTime() - now_ms).toBeGreaterThan(8_000);
  expect(await step()).toBe(false);
});

test("a paused replay does nothing until it is resumed; a cancelled one nothing more", async () => {
  await dead(1_200);
  const row = await start({ filter: { all: true } });
  await step();
  expect(await steerReplay(deps, tenant, row.id, "pause")).toMatchObject({ kind: "steered", row: { state: "paused" } });
  expect(await steerReplay(deps, tenant, row.id, "pause")).toMatchObject({ kind: "steered" });
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "paused", replayed: 500 });
  await steerReplay(deps, tenant, row.id, "resume");
  await step();
  expect(await look(row)).toMatchObject({ state: "running", replayed: 1_000 });
  expect(await steerReplay(deps, tenant, row.id, "cancel")).toMatchObject({
    kind: "steered",
    row: { state: "cancelled" },
  });
  await carryOut();
  expect(await statuses()).toEqual({ queued: 1_000, dead: 200 });
  expect(await steerReplay(deps, tenant, row.id, "resume")).toMatchObject({ kind: "over" });
  expect(await steerReplay(deps, "other", row.id, "cancel")).toEqual({ kind: "unknown" });
});

test("what another transaction holds is looked at again, and left over only if it is held all the time", async () => {
  await dead(10);
  const [held] = await sql`SELECT id FROM jobs LIMIT 1`;
  const row = await start({ filter: { all: true } });
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM jobs WHERE id = ${held?.id as string} FOR UPDATE`;
    await step();
  });
  expect(await look(row)).toMatchObject({ state: "running", replayed: 9, left_over: 0 });
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: 10, left_over: 0 });
  await sql`TRUNCATE jobs`;
  await dead(10);
  const [again] = await sql`SELECT id FROM jobs LIMIT 1`;
  const other = await start({ filter: { all: true } });
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM jobs WHERE id = ${again?.id as string} FOR UPDATE`;
    await carryOut();
  });
  expect(await look(other)).toMatchObject({ state: "done", replayed: 9, left_over: 1 });
});

test("jobs of groups, with and without a row, are replayed in their order, patched", async () => {
  const submissions = [1, 2, 3].map((n) => ({
    ...submission({ type: "g", payload: { n }, group: "one", max_attempts: 1 }),
    tenant,
  }));
  await enqueueAll(deps, submissions, { idempotency_ttl_seconds: 60 });
  await sql`
    UPDATE jobs SET status = 'dead', ready_at = NULL, blocked_seq = NULL, holds_group = NULL, finished_at = now(),
                    dead_at = now() - (10 - (payload ->> 'n')::int) * interval '1 second', error_fingerprint = 'f'`;
  await sql`TRUNCATE job_groups`;
  const row = await start({ filter: { type: "g" }, patch: { more: true } });
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: 3, left_over: 0 });
  const jobs = await sql`SELECT status, payload FROM jobs ORDER BY coalesce(blocked_seq, 0)`;
  expect(jobs.map(({ status, payload }) => [status, payload])).toEqual([
    ["queued", { n: 1, more: true }],
    ["blocked", { n: 2, more: true }],
    ["blocked", { n: 3, more: true }],
  ]);
});

test("eight processes that carry on at once replay each job once", async () => {
  await dead(3_000);
  const row = await start({ filter: { all: true }, patch: { old: null } });
  const seen: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let idle = 0; idle < 3;) {
        if (!(await step(deps, async ({ ids }) => void seen.push(...ids)))) idle += 1;
      }
    }),
  );
  await carryOut();
  expect(await look(row)).toMatchObject({ state: "done", replayed: 3_000 });
  expect(new Set(seen).size).toBe(seen.length);
  expect(await statuses()).toEqual({ queued: 3_000 });
  const [attempts] = await sql`SELECT count(*)::int AS wrong FROM jobs WHERE payload ->> 'old' IS NOT NULL`;
  expect(attempts?.wrong).toBe(0);
});

/** The steps of a page of jobs in groups, counted by a page that is let through. */
async function stepsOfPage(): Promise<number> {
  let steps = 0;
  await step({ ...deps, database: steppingDatabase(own.database, () => void (steps += 1)) });
  return steps;
}

test(
  "a process that dies at any step of a page loses nothing and leaves nothing done twice",
  { timeout: 60_000 },
  async () => {
    const prepare = async () => {
      await sql`TRUNCATE jobs, dead_letter_replays, job_groups`;
      await dead(5);
      await sql`UPDATE jobs SET group_key = 'g' WHERE payload ->> 'n' IN ('4', '5')`;
      return start({ filter: { type: "mail" }, patch: { old: null } });
    };
    await prepare();
    const steps = await stepsOfPage();
    expect(steps).toBeGreaterThan(5);
    for (let dies_at = 1; dies_at <= steps; dies_at += 1) {
      const row = await prepare();
      let at = 0;
      const dying = steppingDatabase(own.database, (_step: Step) => {
        at += 1;
        if (at === dies_at) throw new Error("the process died");
      });
      await step({ ...deps, database: dying }).catch(() => undefined);
      await carryOut();
      const { replayed, left_over, state } = await look(row);
      expect({ dies_at, replayed, left_over, state }).toEqual({ dies_at, replayed: 5, left_over: 0, state: "done" });
      const rows = await sql`SELECT status, payload FROM jobs ORDER BY payload ->> 'n'`;
      expect(rows.map(({ payload }) => payload as unknown)).toEqual([1, 2, 3, 4, 5].map((n) => ({ n })));
      expect(rows.filter(({ status }) => status === "dead")).toEqual([]);
    }
  },
);

test("while a page is under way, no lock of it outlives it, and a stopped one holds nobody up", async () => {
  await dead(600);
  const row = await start({ filter: { all: true } });
  await step();
  const locks = await sql`
    SELECT relation::regclass AS on FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND mode = 'RowShareLock'`;
  expect(locks).toEqual([]);
  // One process stands still in the middle of a page: another does pages of another replay meanwhile.
  const other = await start({ filter: { all: true } });
  await sql`UPDATE dead_letter_replays SET next_at = now() - interval '1 hour' WHERE id = ${row.id}`;
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM dead_letter_replays WHERE id = ${row.id} FOR UPDATE`;
    expect(await step()).toBe(true);
  });
  expect((await look(other)).replayed).toBe(100);
});

test("as many unfinished replays as there may be, and no more", async () => {
  for (let count = 0; count < limits.replays_max; count += 1) await start({ filter: { all: true } });
  expect(await createReplay(deps, { tenant, filter: { all: true } }, anybody)).toBeUndefined();
  expect(await createReplay(deps, { tenant: "other", filter: { all: true } }, anybody)).toBeDefined();
  const first = await listReplays(deps, tenant, 15, undefined);
  const second = await listReplays(deps, tenant, 15, first.next);
  expect([first.rows.length, second.rows.length, second.next]).toEqual([15, 5, undefined]);
});

test("a process carries on by itself, signals the jobs, and takes them out of the list in Redis", async () => {
  const signal = memorySignal();
  const followUps = createFollowUps({ ...deps, signal });
  await dead(30);
  const ids = (await sql`SELECT id FROM jobs`).map(({ id }) => String(id));
  await signal.deadLetters.add(ids);
  const stop = new AbortController();
  const loop = carryOnReplays({ ...deps, signal, followUps, logger: createLogger("fatal", "test") }, stop.signal);
  const row = await start({ filter: { all: true } });
  await eventually(async () => expect((await look(row)).state).toBe("done"));
  await eventually(async () => expect((await signal.deadLetters.look()).length).toBe(0));
  stop.abort();
  await loop;
  await followUps.stop();
  expect(new Set(await signal.take([{ tenant, queue: "default" }], 100))).toEqual(new Set(ids));
});

type BrokenDeps = Deps & { signal: Signal; followUps: FollowUps; broken: Mock };

test.each([
  [
    "of the background",
    async (on: BrokenDeps) => {
      const row = await start({ filter: { all: true } });
      const stop = new AbortController();
      const loop = carryOnReplays({ ...on, logger: createLogger("silent", "test") }, stop.signal);
      await eventually(async () => expect((await look(row)).replayed).toBe(3));
      await eventually(() => expect(on.broken).toHaveBeenCalled());
      stop.abort();
      await loop;
    },
  ],
  [
    "of a request",
    async (on: BrokenDeps) => {
      await expect(replayAll(on, { tenant }, { dry_run: false })).rejects.toThrow("CONNECTION_CLOSED");
      expect(on.broken).toHaveBeenCalled();
    },
  ],
])(
  "what the first transaction of a page replayed is followed up even if the second one fails: %s",
  async (_of, act) => {
    await dead(5);
    await sql`UPDATE jobs SET group_key = 'g' WHERE payload ->> 'n' IN ('4', '5')`;
    const ids = (await sql`SELECT id FROM jobs WHERE group_key IS NULL`).map(({ id }) => String(id));
    const signal = memorySignal();
    await signal.deadLetters.add((await sql`SELECT id FROM jobs`).map(({ id }) => String(id)));
    const followUps = createFollowUps({ ...deps, signal });
    const broken = vi.fn<() => void>();
    let transactions = 0;
    // What takes jobs of groups without a row, in either form, comes after a commit of one that starts jobs anew.
    const database = steppingDatabase(own.database, (kind, _number, text) => {
      if (kind === "statement" && transactions > 0 && /UPDATE jobs SET status|FOR UPDATE/.test(text)) {
        broken();
        throw brokenConnection();
      }
      if (kind === "answer" && /UPDATE jobs SET status|COMMIT/.test(text)) transactions += 1;
    });
    await act({ ...deps, database, signal, followUps, broken });
    await followUps.stop();
    expect(new Set(await signal.take([{ tenant, queue: "default" }], 100))).toEqual(new Set(ids));
    expect((await signal.deadLetters.look()).length).toBe(2);
  },
);
