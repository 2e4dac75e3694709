import { firstId } from "../ids.ts";
import { submission } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { firstIdAt } from "./retention.ts";
import { enqueue } from "../submit/enqueue.ts";
import { clearResults, type Cleared } from "./clear-results.ts";
import { prune, type Pruned } from "./prune.ts";
import { forget } from "./forget.ts";

const { deps } = engineHarness();

const hour = 3_600_000;
/** A job some hours after it was made and, perhaps, finished. */
const insert = async (status: string, made_hours_ago: number, finished_hours_ago: number | null): Promise<string> => {
  const id =
    firstIdAt(new Date(Date.now() - made_hours_ago * hour)).slice(0, 24) +
    Math.random().toString(16).slice(2, 14).padEnd(12, "0");
  const finished = finished_hours_ago === null ? null : new Date(Date.now() - finished_hours_ago * hour);
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, ready_at, payload)
    VALUES (${id}, 'noop', ${status}, now(), now(), now(), ${finished}, ${status === "dead" ? finished : null},
            ${status === "queued" ? new Date() : null}, '{}')`;
  await deps.database
    .sql`INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, finished_at, outcome) VALUES ('default', ${id}, 1, now(), 'failed')`;
  return id;
};

test("a job that cannot be removed or cleared keeps none after it from being so", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 40; count += 1) ids.push(await insert("succeeded", 100 - count, 25));
  await deps.database.sql`UPDATE atlasqueue.jobs SET result = '1'`;
  const bad = [ids[0], ids[1], ids[21]];
  await deps.database.sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22000'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON atlasqueue.jobs FOR EACH ROW WHEN (OLD.id IN ('${bad.join("','")}'))
      EXECUTE FUNCTION refuse()`);
  onTestFinished(async () => void (await deps.database.sql.unsafe("DROP FUNCTION refuse CASCADE")));
  let cleared: Cleared = { jobs: 0, last: firstId, more: true };
  while (cleared.more) cleared = await clearResults(deps, 60, cleared.last ?? firstId, firstIdAt(new Date()), 10);
  const left = await deps.database.sql`SELECT id FROM atlasqueue.jobs WHERE result::text <> 'null' ORDER BY id`;
  expect(left.map(({ id }) => id)).toEqual(bad);
  const stuck: (string | undefined)[] = [];
  for (let after: string | undefined = firstId; after !== undefined;) {
    const step: Pruned = await prune(deps, { succeededHours: 1, deadHours: 1 }, after, 10);
    if (step.failed) stuck.push(step.next);
    after = step.next;
  }
  expect(stuck).toEqual(bad);
  expect((await deps.database.sql`SELECT FROM atlasqueue.jobs`).length).toBe(bad.length);
});

test("finished jobs go when their time is up, with their attempts; the others stay", async () => {
  const gone = [await insert("succeeded", 30, 25), await insert("cancelled", 30, 25), await insert("dead", 200, 110)];
  const kept = [
    await insert("succeeded", 30, 23),
    await insert("dead", 30, 25),
    await insert("queued", 300, null),
    await insert("succeeded", 1, 0.5),
  ];
  const retention = { succeededHours: 24, deadHours: 100 };
  let after: string | undefined = firstId;
  const dead: string[] = [];
  let steps = 0;
  while (after !== undefined) {
    const step = await prune(deps, retention, after, 2);
    dead.push(...step.dead);
    after = step.next;
    steps += 1;
  }
  const left = await deps.database.sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs`;
  const attempts = await deps.database.sql<{ job_id: string }[]>`SELECT job_id FROM atlasqueue.job_attempts`;
  expect(left.map(({ id }) => id).sort()).toEqual(kept.toSorted());
  expect(attempts.map(({ job_id }) => job_id).sort()).toEqual(kept.toSorted());
  expect(dead).toEqual([gone[2]]);
  expect(steps).toBeGreaterThan(2);
});

test("expired keys go, a few at a time", async () => {
  await enqueue(
    deps,
    [1, 2, 3].map((at) => submission({}, `old-${at}`)),
    { idempotency_ttl_seconds: -1 },
  );
  await enqueue(deps, [submission({}, "young")], { idempotency_ttl_seconds: 60 });
  expect([await forget(deps, "keys", 2), await forget(deps, "keys", 2), await forget(deps, "keys", 2)]).toEqual([
    2, 1, 0,
  ]);
  expect(await deps.database.sql`SELECT key FROM atlasqueue.idempotency_keys`).toEqual([{ key: "young" }]);
});
