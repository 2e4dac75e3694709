import { firstId } from "../ids.ts";
import { defineJob, queueDefaults, type JobDefaults, type QueueDefaultsInput } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { advanceAndAdmit } from "../../test/advance.ts";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { waysToSubmit } from "../../test/ways-to-submit.ts";
import { clearResults } from "../maintenance/clear-results.ts";
import { forget } from "../maintenance/forget.ts";
import { prune } from "../maintenance/prune.ts";
import { firstIdAt } from "../maintenance/retention.ts";
import { createQueue, type QueueJob } from "../queue.ts";
import { fireAll } from "../schedules/fire-due.ts";
import { enqueue } from "../submit/enqueue.ts";
import { queueStats } from "./stats.ts";
import { setDefaults } from "./set-defaults.ts";

const options = { idempotency_ttl_seconds: 60 };
const { deps, url, add, finish } = engineHarness();
const elsewhere = { tenant: "acme", queue: "default" };

const set = (defaults: QueueDefaultsInput, ref = main) => setDefaults(deps, ref, queueDefaults.parse(defaults));
/** What is stored of each job, in the order in which they were submitted. */
const stored = () => deps.database.sql<Required<JobDefaults>[]>`
  SELECT max_attempts, backoff, timeout_seconds, retention_seconds, result_ttl_seconds FROM atlasqueue.jobs ORDER BY id`;

const system = {
  max_attempts: 5,
  backoff: null,
  timeout_seconds: null,
  retention_seconds: null,
  result_ttl_seconds: null,
};
const fields = Object.keys(system) as (keyof JobDefaults)[];
const level = (n: number) =>
  ({
    max_attempts: 10 + n,
    backoff: { kind: "fixed", base_seconds: n },
    timeout_seconds: 20 + n,
    retention_seconds: 100 + n,
    result_ttl_seconds: 1_000 + n,
  }) satisfies JobDefaults;
const ofQueue = level(1);
const ofType = level(2);
const own = level(3);

test.each(fields)("%s is the submission's own, else its type's, else its queue's, else the system's", async (field) => {
  const one = (of: JobDefaults): JobDefaults => ({ [field]: of[field] });
  const typed = defineJob("noop", z.object({}), one(ofType));
  const jobs = () => [
    submission(typed.submission({}, one(own))),
    submission(typed.submission({}, { [field]: undefined })),
    submission(),
  ];
  await enqueue(deps, jobs(), options);
  await set(one(ofQueue));
  await enqueue(deps, jobs(), options);
  // A statement says once what all of its jobs have.
  for (const job of jobs()) await enqueue(deps, [job], options);
  const shown = [own, ofType, system, own, ofType, ofQueue, own, ofType, ofQueue];
  expect(await stored()).toEqual(shown.map((of) => ({ ...system, [field]: of[field] })));
});

test("each way to submit has them: keys, groups, unique jobs, batches, flows, transactions, SQL and schedules", async () => {
  await set(ofQueue);
  const queue = createQueue({ databaseUrl: url() });
  onTestFinished(() => queue.close());
  const { sql } = deps.database;
  const flow = {
    jobs: [
      { type: "a", ref: "a" },
      { type: "b", depends_on: ["a"] },
    ],
    then: { type: "c" },
  };
  let count = 0;
  const ways = [queue.submit, (job: QueueJob) => sql.begin((tx) => queue.submitIn(tx, job))];
  for (const job of Object.values(waysToSubmit))
    for (const submit of ways) {
      await submit(job);
      await advanceAndAdmit(deps);
      await sql`DELETE FROM atlasqueue.idempotency_keys`;
      await sql`UPDATE atlasqueue.jobs SET unique_key = NULL`;
      count += 1;
    }
  await queue.submitMany([{ type: "a" }, { type: "a", group: "g" }]);
  await queue.submitFlow(flow);
  await sql.begin((tx) => queue.submitFlowIn(tx, flow));
  await sql`SELECT atlasqueue.submit('a'), atlasqueue.submit_flow(${JSON.stringify(flow.jobs)}::text::json, '{"then": {"type": "c"}}')`;
  await queue.schedules.put({ name: "plain", cron: "* * * * *", job: { type: "a" } });
  await queue.schedules.put({ name: "grouped", cron: "* * * * *", job: { type: "a", group: "g" } });
  await sql`UPDATE atlasqueue.schedules SET next_at = date_trunc('minute', now())`;
  expect(await fireAll(deps)).toBe(2);
  await advanceAndAdmit(deps);
  const made = await stored();
  expect(made).toHaveLength(count + 2 + 3 + 3 + 1 + 3 + 2);
  expect(made).toEqual(made.map(() => ofQueue));
});

test("an answer shows the job as it is stored, also one that replaces another", async () => {
  await set(ofQueue);
  const unique = { key: "u", on_conflict: "replace" } as const;
  const jobs = [submission({ unique }), submission({ unique, max_attempts: 1 }), submission({ group: "g" })];
  for (const one of jobs)
    expect((await enqueue(deps, [one], options))[0]).toMatchObject({
      job: { ...ofQueue, max_attempts: one.request.max_attempts ?? ofQueue.max_attempts },
    });
  expect((await stored()).map(({ max_attempts }) => max_attempts)).toEqual([1, ofQueue.max_attempts]);
});

test("a key stands for what was asked for, whatever the defaults are by then", async () => {
  const [first] = await enqueue(deps, [submission({}, "k")], options);
  await set(ofQueue);
  const [again, other] = await enqueue(deps, [submission({}, "k"), submission({ max_attempts: 5 }, "k")], options);
  expect([first?.kind, again?.kind, other?.kind]).toEqual(["created", "replayed", "mismatch"]);
  const { sql } = deps.database;
  const [row] = await sql`SELECT atlasqueue.submit('noop', '{}', '{"idempotency_key": "k"}') AS id`;
  expect(row?.["id"]).toBe(first && "job" in first ? first.job.id : "");
});

test("only jobs of that queue and tenant have them, and none once they are cleared, which forgets the queue", async () => {
  await set(ofQueue);
  await set(level(4), elsewhere);
  const job = submission();
  const of = (tenant: string, queue: string) => ({ ...job, tenant, request: { ...job.request, queue } });
  const places = [of("default", "default"), of("acme", "default"), of("default", "other"), of("other", "default")];
  await enqueue(deps, places, options);
  expect(await stored()).toEqual([ofQueue, level(4), system, system]);
  const shown = async (tenant: string) => (await queueStats(deps, tenant, { queue: "default" }))[0]?.defaults;
  expect([await shown("default"), await shown("acme"), await shown("other")]).toEqual([ofQueue, level(4), null]);
  await set({ timeout_seconds: 7 });
  expect(await shown("default")).toEqual({ timeout_seconds: 7 });
  expect(await forget(deps, "others", 10)).toBe(0);
  await set({});
  expect([await shown("default"), await shown("acme")]).toEqual([null, level(4)]);
  expect(await forget(deps, "others", 10)).toBe(1);
  await enqueue(deps, [job], options);
  expect((await stored()).at(-1)).toEqual(system);
});

test("jobs and their results are kept for their own time, longer or shorter than the settings say", async () => {
  const { sql } = deps.database;
  const ids = await add({ retention_seconds: 60 }, { retention_seconds: 999_999 }, { result_ttl_seconds: 60 }, {});
  for (const id of ids) await finish(id);
  await sql`UPDATE atlasqueue.jobs SET result = '1', finished_at = now() - interval '2 hours'`;
  const left = async () =>
    (await sql`SELECT id, result FROM atlasqueue.jobs ORDER BY id`).map((row) => [row["id"], row["result"]]);
  const day = { succeededHours: 24, deadHours: 24 };
  expect(await prune(deps, day, firstId, 10, "own")).toMatchObject({ jobs: 1 });
  const before = firstIdAt(new Date(Date.now() + 60_000));
  expect(await clearResults(deps, undefined, firstId, before, 10, "own")).toMatchObject({ jobs: 1 });
  expect(await left()).toEqual([
    [ids[1], 1],
    [ids[2], null],
    [ids[3], 1],
  ]);
  const hour = { succeededHours: 1, deadHours: 1 };
  expect(await prune(deps, hour, firstId, 10, "own")).toMatchObject({ jobs: 1 });
  expect((await left()).map(([id]) => id)).toEqual([ids[1], ids[3]]);
});
