import { complete, recoverExpired } from "@atlasqueue/core/internal";
import { claim, fail, type Lease } from "@atlasqueue/core/internal/worker";
import { enqueue } from "@atlasqueue/core/internal/tools";
import { forFile, submission, testCore } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { installAudit } from "./install-audit.ts";
import { readAudit, type Moved } from "./read-audit.ts";
import { readFinal } from "./read-final.ts";

const deps = forFile(testCore);
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
beforeAll(async () => {
  await installAudit(deps.database.sql);
  await installAudit(deps.database.sql);
});

async function add(nonce: string): Promise<string> {
  const [outcome] = await enqueue(deps, [submission({ payload: { nonce }, max_attempts: 2 })], {
    idempotency_ttl_seconds: 60,
  });
  if (!outcome || !("job" in outcome)) throw new Error("not stored");
  return outcome.job.id;
}
async function take(id: string): Promise<Lease> {
  const [lease] = await claim(deps, [id], claimer);
  if (!lease) throw new Error("not claimed");
  return lease;
}
async function movesOf(id: string): Promise<Moved[]> {
  const moves: Moved[] = [];
  for await (const move of readAudit(deps.database.sql)) if (move.job === id) moves.push(move);
  return moves;
}
const endLeases = () => deps.database.sql`
  WITH due AS (UPDATE atlasqueue.claims SET check_at = now())
  UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 second' WHERE status = 'running'`;

test("each move of a job is noted with the token it was made under", async () => {
  const id = await add("one");
  const lost = await take(id);
  await endLeases();
  await recoverExpired(deps, 10);
  const lease = await take(id);
  await complete(deps, [{ lease: lost, result: { attempt: 1 } }]);
  await complete(deps, [{ lease, result: { attempt: 2 } }]);
  const moves = await movesOf(id);
  expect(moves.map(({ was, status, attempts }) => [was, status, attempts])).toEqual([
    [null, "queued", 0],
    ["queued", "running", 1],
    ["running", "queued", 1],
    ["queued", "running", 2],
    ["running", "succeeded", 2],
  ]);
  expect(moves[0]?.nonce).toBe("one");
  expect(moves[2]?.old_token).toBe(lost.lease_token);
  expect(moves[2]?.lease_left_ms).toBeLessThan(0);
  expect(moves[4]).toMatchObject({ old_token: lease.lease_token, done_by_attempt: 2 });
  expect(moves[4]?.lease_left_ms).toBeGreaterThan(0);
});

test("what a function of the database submits is noted", async () => {
  const [stored] = await deps.database.sql<{ id: string }[]>`
    SELECT id FROM atlasqueue.submit_job('task', '{"nonce": "inside"}'::json, '{"tenant": "default"}'::jsonb)`;
  expect(await movesOf(stored?.id ?? "")).toMatchObject([{ was: null, nonce: "inside" }]);
});

test("what is rolled back is not noted, and what is removed is", async () => {
  const id = await add("two");
  await deps.database.sql
    .begin(async (tx) => {
      await tx`DELETE FROM atlasqueue.jobs WHERE id = ${id}`;
      throw new Error("no");
    })
    .catch(() => {});
  expect(await movesOf(id)).toHaveLength(1);
  await deps.database.sql`DELETE FROM atlasqueue.jobs WHERE id = ${id}`;
  expect(await movesOf(id)).toMatchObject([{ was: null }, { was: "queued", status: null }]);
});

test("a result of any shape is none of its business", async () => {
  for (const result of [null, "text", 7, [1], { attempt: "first" }]) {
    const lease = await take(await add("three"));
    expect(await complete(deps, [{ lease, result }])).toMatchObject([{ kind: "applied" }]);
  }
});

test("what is left says which jobs wait for a stated reason, and which are dead", async () => {
  const lease = await take(await add("four"));
  await fail(deps, [{ lease, error: "Error: no", verdict: { kind: "dead", reason: "not_retryable" } }]);
  const waiting = await add("five");
  const seen = async () => (await readFinal(deps.database.sql, [])).open;
  expect(await seen()).toEqual(
    expect.arrayContaining([
      { id: lease.id, tenant: "default", status: "dead", why: null },
      { id: waiting, tenant: "default", status: "queued", why: null },
    ]),
  );
  await deps.database
    .sql`INSERT INTO atlasqueue.queues (tenant, queue, paused_at) VALUES ('default', 'default', now())`;
  expect(await seen()).toContainEqual({ id: waiting, tenant: "default", status: "queued", why: "its queue is paused" });
});
