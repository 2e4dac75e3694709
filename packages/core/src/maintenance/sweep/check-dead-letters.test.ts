import { forFile, ownSignal, recordEvents, submission, testDatabase } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../../jobs/retry.ts";
import { claim } from "../../lease/claim.ts";
import { createLogger } from "../../observe/log.ts";
import { fail } from "../../settle/settle.ts";
import { enqueue } from "../../submit/enqueue.ts";
import type { LoopDeps } from "../loop.ts";
import { createDeadLetterCheck } from "./check-dead-letters.ts";

const tenant = "default";
const dead = { kind: "dead", reason: "not_retryable" } as const;
const own = forFile(testDatabase);
let deps: LoopDeps;
afterEach(() => deps.signal.close());
beforeEach(async () => {
  await own.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.queue_counts, atlasqueue.queue_changes`;
  const logger = createLogger("silent", "check-dead-letters");
  deps = { database: own.database, observe: recordEvents().observe, signal: ownSignal(), logger };
});

/** Dead jobs, the first of which died first. */
async function die(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const [outcome] = await enqueue(deps, [submission()], { idempotency_ttl_seconds: 60 });
    ids.push(outcome && "job" in outcome ? outcome.job.id : "");
  }
  for (const id of ids) {
    const [lease] = await claim(deps, [id], { tenant, queues: ["default"], worker_id: "w", lease_seconds: 30 });
    if (lease) await fail(deps, [{ lease, error: "x", verdict: dead }]);
  }
  return ids;
}
const newestDead = async () =>
  (await own.database.sql<{ newest: Date | null }[]>`SELECT max(dead_at) AS newest FROM atlasqueue.jobs`)[0]?.newest ??
  null;
const listed = async () => (await deps.signal.deadLetters.page(0, 100)).toSorted();

test("a dead letter that was retried, and of which the list was not told, leaves it at the second look", async () => {
  const [first = "", second = ""] = await die(2);
  const check = createDeadLetterCheck(deps);
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
  // As when the answer of the statement is lost.
  await retry(deps, tenant, first);
  await check(await newestDead());
  expect(await listed()).toHaveLength(2);
  await check(await newestDead());
  expect(await listed()).toEqual([second]);
});

test("one that the list has lost is in it again at the second look", async () => {
  const [first = "", second = ""] = await die(2);
  const check = createDeadLetterCheck(deps);
  await check(await newestDead());
  await deps.signal.deadLetters.remove([first]);
  await check(await newestDead());
  expect(await listed()).toEqual([second]);
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
});

test("so is one that died long before where the list goes on from", async () => {
  const [first = "", second = ""] = await die(2);
  await own.database.sql`UPDATE atlasqueue.jobs SET dead_at = dead_at - interval '5 minutes' WHERE id = ${first}`;
  const check = createDeadLetterCheck(deps);
  await check(await newestDead());
  await deps.signal.deadLetters.remove([first]);
  await check(await newestDead());
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
});
