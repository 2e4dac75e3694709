import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "@atlasqueue/testing";
import { engineHarness } from "../../../test/engine-harness.ts";
import { admitAll, admitHeld } from "./admitter.ts";
import { arrivedUpTo } from "./arrived-ids.ts";
import { newArrivalsCursor } from "./arrivals-round.ts";
import { createFollowUps, type FollowUps } from "../../follow-ups.ts";
import { createQueue, type Queue, type QueueJob } from "../../queue.ts";
import { cancel } from "../../jobs/cancel.ts";
import { deleteFinished } from "../../jobs/delete.ts";
import { purge } from "../../dead-letters/purge.ts";
import { retry } from "../../jobs/retry.ts";

const { deps, url, die, read } = engineHarness();

let queue: Queue;
let followUps: FollowUps;
beforeAll(() => {
  queue = createQueue({ databaseUrl: url() });
});
afterAll(() => queue.close());
beforeEach(() => {
  followUps = createFollowUps(deps);
});
afterEach(() => followUps.stop());
const admitting = () => ({ ...deps, followUps });

test("a job that cannot be admitted holds up none of those that arrived with it", async () => {
  const submitted = await deps.database.sql.begin(async (tx) => {
    const all = [];
    for (let at = 0; at < 9; at += 1) all.push(await queue.submitIn(tx, { type: "noop", group: `g-${at}` }));
    return all;
  });
  const bad = submitted[4]?.id ?? "";
  await deps.database.sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22000'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON atlasqueue.arrivals FOR EACH ROW WHEN (OLD.job_id = '${bad}') EXECUTE FUNCTION refuse()`);
  try {
    await expect(admitAll(admitting())).rejects.toThrow("refused");
    const left = await deps.database.sql<{ job_id: string }[]>`SELECT job_id FROM atlasqueue.arrivals`;
    expect(left.map(({ job_id }) => job_id)).toEqual([bad]);
  } finally {
    await deps.database.sql.unsafe("DROP TRIGGER refuse ON atlasqueue.arrivals; DROP FUNCTION refuse()");
  }
  await admitAll(admitting());
  expect(await deps.database.sql`SELECT FROM atlasqueue.arrivals`).toHaveLength(0);
});

test("what arrives is admitted in pages that are bounded by their bytes, all of it", async () => {
  const fill = "x".repeat(250_000);
  const ids = await arrive(20, (at) => ({ type: "noop", group: `g-${at}`, payload: { fill } }));
  const page = await arrivedUpTo(deps, ids);
  expect(page.more).toBe(true);
  expect(page.ids.length).toBeGreaterThan(10);
  expect(page.ids.length * fill.length).toBeLessThan(4 * 1_048_576 + 260_000);
  expect((await admitAll(admitting())).admitted).toBe(20);
  expect(await deps.database.sql`SELECT FROM atlasqueue.arrivals`).toHaveLength(0);
});

const arrive = async (count: number, job: (at: number) => QueueJob): Promise<string[]> =>
  deps.database.sql.begin(async (tx) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) ids.push((await queue.submitIn(tx, job(at))).id);
    return ids;
  });

test.each(["deleted once cancelled", "purged as a dead letter"])(
  "a job removed before it was admitted leaves nothing: %s",
  async (how) => {
    const [id = ""] = await arrive(1, () => ({ type: "noop", group: "g", idempotency_key: "k" }));
    await cancel(deps, "default", id);
    if (how === "purged as a dead letter") {
      await retry(deps, "default", id);
      await die(id);
      const page = { kind: "ids" as const, tenant: "default", ids: [id], rest: [], until_us: Number.MAX_SAFE_INTEGER };
      expect(await purge(deps, page)).toMatchObject({ ids: [id] });
    } else expect(await deleteFinished(deps, "default", [id])).toMatchObject({ ids: [id] });
    await admitAll(admitting());
    expect(await deps.database.sql`SELECT FROM atlasqueue.arrivals`).toHaveLength(0);
    expect(await deps.database.sql`SELECT FROM atlasqueue.idempotency_keys`).toHaveLength(0);
  },
);

test("jobs that cannot be admitted keep the sweep from those behind them only until the next one", async () => {
  await arrive(201, (at) => ({ type: "noop", group: `stuck-${at}` }));
  const [behind = ""] = await arrive(1, () => ({ type: "noop", group: "behind" }));
  const cursor = newArrivalsCursor();
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.arrivals WHERE job_id <> ${behind} FOR UPDATE`;
    expect((await admitAll(admitting(), cursor, 1)).admitted).toBe(0);
    expect((await admitAll(admitting(), cursor, 1)).admitted).toBe(1);
    expect(await read(behind)).toMatchObject({ status: "queued" });
  });
  // It goes round: the first ones have their turn again.
  while ((await deps.database.sql`SELECT FROM atlasqueue.arrivals`).length > 0) await admitAll(admitting(), cursor, 1);
});

test("a sweep that begins in the middle keeps the order within groups", async () => {
  const [first = "", second = "", third = ""] = await arrive(3, () => ({ type: "noop", group: "one" }));
  await admitAll(admitting(), { ...newArrivalsCursor(), after: new Map([["default", second]]) });
  const place = async (id: string) => [(await read(id))?.status, Number((await read(id))?.group_seq)];
  const places = await Promise.all([first, second, third].map(place));
  expect(places.map(([status]) => status)).toEqual(["queued", "blocked", "blocked"]);
  expect(places[1]?.[1]).toBeLessThan(Number(places[2]?.[1]));
});

test("a key is found although its job is admitted between two looks at it", async () => {
  const job = { type: "noop", group: "g", idempotency_key: "k" };
  const first = await deps.database.sql.begin((tx) => queue.submitIn(tx, job));
  const again = await deps.database.sql.begin((tx) => {
    let looks = 0;
    const unsafe = async (text: string, params?: never[]) => {
      const rows = await tx.unsafe(text, params);
      looks += 1;
      if (looks === 1) await admitAll(admitting());
      return rows;
    };
    return queue.submitIn({ unsafe }, job);
  });
  expect(again).toMatchObject({ id: first.id, created: false });
});

test("waiting for a group that somebody keeps locked locks no other", async () => {
  for (const group of ["busy", "stuck"]) await queue.submit({ type: "noop", group });
  const ids = await deps.database.sql.begin(async (tx) => {
    const all = [];
    for (const group of ["busy", "stuck", "busy"]) all.push((await queue.submitIn(tx, { type: "noop", group })).id);
    return all;
  });
  const { sql } = deps.database;
  let waiting: Promise<void> | undefined;
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'stuck' FOR UPDATE`;
    waiting = admitHeld(admitting(), ids);
    await eventually(async () => {
      expect(
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ).toHaveLength(1);
    });
    expect(await sql`SELECT FROM atlasqueue.job_groups WHERE group_key = 'busy' FOR UPDATE SKIP LOCKED`).toHaveLength(
      1,
    );
    expect(
      (await sql<{ job_id: string }[]>`SELECT job_id FROM atlasqueue.arrivals`).map(({ job_id }) => job_id),
    ).toEqual([ids[1]]);
  });
  await waiting;
  expect(await sql`SELECT FROM atlasqueue.arrivals`).toHaveLength(0);
});
