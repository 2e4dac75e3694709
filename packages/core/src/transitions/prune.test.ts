import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFollowUps } from "../follow-ups.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt } from "../policy/retention.ts";
import { createPromoter } from "../promoter.ts";
import { memorySignal } from "../signal/memory.ts";
import { eventually } from "@atlasqueue/testing";
import { createSubmitter } from "../submitter.ts";
import { enqueue } from "./enqueue.ts";
import { firstId, prune, pruneKeys } from "./prune.ts";

let own: TestDatabase;
let deps: Deps;
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
});
afterAll(() => own.drop());

const hour = 3_600_000;
/** A job as it stands some hours after it was made and, perhaps, finished. */
const insert = async (status: string, made_hours_ago: number, finished_hours_ago: number | null): Promise<string> => {
  const id =
    firstIdAt(new Date(Date.now() - made_hours_ago * hour)).slice(0, 24) +
    Math.random().toString(16).slice(2, 14).padEnd(12, "0");
  const finished = finished_hours_ago === null ? null : new Date(Date.now() - finished_hours_ago * hour);
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, ready_at, payload)
    VALUES (${id}, 'noop', ${status}, now(), now(), now(), ${finished}, ${status === "dead" ? finished : null},
            ${status === "queued" ? new Date() : null}, '{}')`;
  await own.database
    .sql`INSERT INTO job_attempts (job_id, attempt, finished_at, outcome) VALUES (${id}, 1, now(), 'failed')`;
  return id;
};

test("finished jobs go when their time is up, with their attempts; the others stay", async () => {
  const gone = [await insert("succeeded", 30, 25), await insert("cancelled", 30, 25), await insert("dead", 200, 110)];
  const kept = [
    await insert("succeeded", 30, 23),
    await insert("dead", 30, 25),
    await insert("queued", 300, null),
    await insert("succeeded", 1, 0.5),
  ];
  const retention = { succeeded_hours: 24, dead_hours: 100 };
  let after: string | undefined = firstId;
  const dead: string[] = [];
  let steps = 0;
  while (after !== undefined) {
    const step = await prune(deps, retention, after, 2);
    dead.push(...step.dead);
    after = step.next;
    steps += 1;
  }
  const left = await own.database.sql<{ id: string }[]>`SELECT id FROM jobs`;
  const attempts = await own.database.sql<{ job_id: string }[]>`SELECT job_id FROM job_attempts`;
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
  expect([await pruneKeys(deps, 2), await pruneKeys(deps, 2), await pruneKeys(deps, 2)]).toEqual([2, 1, 0]);
  expect(await own.database.sql`SELECT key FROM idempotency_keys`).toEqual([{ key: "young" }]);
});

test("a job scheduled for the next moment is made ready by the process that scheduled it", async () => {
  const signal = memorySignal();
  const followUps = createFollowUps({ ...deps, signal });
  const submitter = createSubmitter({ ...deps, followUps }, { idempotency_ttl_seconds: 60 });
  const outcome = await submitter.submit(submission({ delay_seconds: 0.2 }), 10);
  expect(outcome).toMatchObject({ kind: "created", job: { status: "scheduled" } });
  await eventually(async () =>
    expect(await signal.take([{ tenant: "default", queue: "default" }], 5)).toEqual([
      "job" in outcome ? outcome.job.id : "",
    ]),
  );
  await submitter.close();
  await followUps.stop();
});

test("what is due later is left to the sweep", () => {
  const promoter = createPromoter({ ...deps, signal: memorySignal() });
  promoter.expectIn(60_000);
  promoter.stop();
  expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBeLessThan(5);
});
