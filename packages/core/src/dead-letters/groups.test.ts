import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import type { Deps } from "../deps.ts";
import { retry } from "../jobs/retry.ts";
import { recoverExpired } from "../lease/recover.ts";
import { fail } from "../settle/settle.ts";
import { rowsRead } from "../../test/rows-read.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { listDeadGroups } from "./groups.ts";
import { listDead } from "./list.ts";

const { deps, add, expire, take } = engineHarness();

const claimed = async (type: string) => take((await add({ type, max_attempts: 1 }))[0]);
const dies = async (type: string, error: string): Promise<string> => {
  const lease = await claimed(type);
  await fail(deps, [{ lease, error, verdict: { kind: "dead", reason: "not_retryable" } }]);
  return lease.id;
};
/** Many dead ones at once, `hours_ago` and a little. */
const many = (count: number, type: string, error: string, hours_ago = 0) => deps.database.sql`
  INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, last_error, error_fingerprint)
  SELECT gen_random_uuid(), ${type}, 'dead', now(), now(), now(), now(),
         now() - make_interval(hours => ${hours_ago}, mins => 1), '{}', ${error}, ${fingerprintOf(error)}
  FROM generate_series(1, ${count}::int)`;
const groups = async (filter = {}) => (await listDeadGroups(deps, "default", filter, 50)).groups;

test("jobs that died of like errors are one group, by type; the newest is its sample", async () => {
  await dies("mail", "Error: no user 17");
  const second = await dies("mail", "Error: no user 4");
  await dies("mail", "Error: refused");
  await dies("sms", "Error: no user 17");
  const foreign = await dies("mail", "Error: no user 17");
  await deps.database.sql`UPDATE atlasqueue.jobs SET tenant = 'other' WHERE id = ${foreign}`;
  const found = await groups();
  expect(found.map(({ type, error, count }) => [type, error, count]).toSorted()).toEqual([
    ["mail", "Error: no user ‹n›", 2],
    ["mail", "Error: refused", 1],
    ["sms", "Error: no user ‹n›", 1],
  ]);
  const users = found.find(({ type, count }) => type === "mail" && count === 2);
  expect(users).toMatchObject({
    sample_job_id: second,
    count_complete: true,
    fingerprint: fingerprintOf("Error: no user 1"),
  });
  expect(Date.parse(users?.first_seen ?? "")).toBeLessThanOrEqual(Date.parse(users?.last_seen ?? ""));
  expect((await groups({ type: "sms" })).map(({ type }) => type)).toEqual(["sms"]);
});

test("a group counts its deaths hour by hour, for a day", async () => {
  await many(3, "mail", "E", 0);
  await many(2, "mail", "E", 5);
  await many(4, "mail", "E", 23);
  await many(7, "mail", "E", 24);
  const [group] = await groups();
  expect(group?.count).toBe(16);
  expect(group?.per_hour).toHaveLength(24);
  expect([group?.per_hour[23], group?.per_hour[18], group?.per_hour[0]]).toEqual([3, 2, 4]);
  expect(group?.per_hour.reduce((sum, count) => sum + count, 0)).toBe(9);
});

test("a job that is retried leaves its group, and one whose worker was lost has one", async () => {
  const id = await dies("mail", "E");
  await retry(deps, "default", id);
  expect(await groups()).toEqual([]);
  const lease = await claimed("lost");
  await expire(lease.id);
  await recoverExpired(deps, 10);
  expect(await groups()).toMatchObject([{ type: "lost", count: 1, error: expect.stringContaining("LeaseLost") }]);
});

test("pages follow on one another", async () => {
  for (let n = 0; n < 5; n += 1) await many(10 + n, `type-${n}`, "E");
  const read = async (groups_max: number, type?: string) => {
    const all: [string, number, boolean][] = [];
    let place: Parameters<typeof listDeadGroups>[4];
    for (let page = 0; page < 20; page += 1) {
      const { groups: found, next } = await listDeadGroups(deps, "default", { type }, groups_max, place);
      all.push(
        ...found.map(({ type: of, count, count_complete }): [string, number, boolean] => [of, count, count_complete]),
      );
      if (!next) return all;
      place = next;
    }
    throw new Error("no end");
  };
  const whole = [0, 1, 2, 3, 4].map((n) => [`type-${n}`, 10 + n, true]);
  expect(await read(50)).toEqual(whole);
  expect(await read(5)).toEqual(whole);
  expect(await read(2)).toEqual(whole);
  await many(3, "type-2", "other");
  expect((await read(1, "type-2")).map(([, count]) => count).toSorted()).toEqual([12, 3]);
});

test("a group too large to be counted hides no other, nor its own newest deaths", async () => {
  await many(50, "audit.ship", "E", 30);
  await many(12, "audit.ship", "E", 0);
  await many(3, "billing.charge", "E", 0);
  const { groups: found, next } = await listDeadGroups(deps, "default", {}, 50, undefined, 40);
  expect(found).toMatchObject([
    { type: "audit.ship", count: 40, count_complete: false },
    { type: "billing.charge", count: 3, count_complete: true },
  ]);
  expect(next).toBeUndefined();
  expect(found.map(({ per_hour }) => per_hour[23])).toEqual([12, 3]);
  expect(Date.now() - Date.parse(found[0]?.first_seen ?? "")).toBeGreaterThan(30 * 3_600_000);
  expect(Date.now() - Date.parse(found[0]?.last_seen ?? "")).toBeLessThan(3_600_000);
});

test("the groups of a page share what it counts: small ones leave theirs to the large", async () => {
  for (let n = 0; n < 8; n += 1) await many(2, `small-${n}`, "E");
  await many(50, "large-0", "E");
  await many(50, "large-1", "E");
  const { groups: found } = await listDeadGroups(deps, "default", {}, 50, undefined, 60);
  expect(found.map(({ count, count_complete }) => [count, count_complete])).toEqual([
    [30, false],
    [30, false],
    ...Array.from({ length: 8 }, () => [2, true]),
  ]);
});

test("the dead letters of a group are listed without looking at others", async () => {
  await many(200, "mail", "Error: common");
  const ids = [await dies("mail", "Error: rare 1"), await dies("mail", "Error: rare 2")];
  await many(200, "mail", "Error: common");
  const filter = { type: "mail", fingerprint: fingerprintOf("Error: rare 3") };
  const first = await listDead(deps, "default", filter, 1);
  const second = await listDead(deps, "default", filter, 1, first.next);
  expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await listDead(deps, "default", { fingerprint: filter.fingerprint }, 10)).rows).toHaveLength(2);
});

test("a page reads bounded parts of the index, however many are dead", async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, last_error, error_fingerprint)
    SELECT gen_random_uuid(), CASE WHEN n <= 6000 THEN 'audit.ship' ELSE 'type-' || n % 20 END, 'dead', now(), now(),
           now(), now(), now() - n * interval '1 second', '{}', 'E', substr(md5((n % 3)::text), 1, 16)
    FROM generate_series(1, 9000) AS n`;
  await sql`VACUUM ANALYZE atlasqueue.jobs`;
  const jobs_max = 600;
  // A look at the sizes, the small groups and the large ones each read so many at most; a group takes four probes more.
  const most = 3 * jobs_max + 4 * 64;
  for (const filter of [{}, { type: "audit.ship" }]) {
    const ask = (on: Pick<Deps, "database">) => listDeadGroups(on, "default", filter, 200, undefined, jobs_max);
    expect(await rowsRead(deps.database, ask, "jobs")).toBeLessThan(most);
  }
});
