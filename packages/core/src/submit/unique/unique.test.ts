import { submission } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { createQueue } from "../../queue.ts";
import { UniqueConflictError } from "../refused.ts";
import { cancel } from "../../jobs/cancel.ts";
import type { EnqueueOutcome } from "../outcome.ts";
import { enqueue } from "../enqueue.ts";
import { fail } from "../../settle/settle.ts";
import { promoteDue } from "../../maintenance/promote.ts";
import { uniqueHarness, idOf, options } from "../../../test/unique-harness.ts";

const { deps, url, add, take, finish, read, keys, countsAreTrue } = uniqueHarness();

const replace = { key: "u", on_conflict: "replace" } as const;

const kindOf = async (outcome: Promise<EnqueueOutcome>) => (await outcome).kind;

test("until a job with the key is final, others are answered with it; after that there is a new one", async () => {
  const first = await add({});
  expect(first.kind).toBe("created");
  const second = await add({ payload: { other: true } });
  expect([second.kind, idOf(second)]).toEqual(["existing", idOf(first)]);
  const lease = await take(idOf(first));
  expect(await add({})).toMatchObject({ kind: "existing", job: { id: idOf(first), status: "running" } });
  await fail(deps, [{ lease, error: "E", verdict: { kind: "retry", delay_ms: 0 } }]);
  expect(await kindOf(add({}))).toBe("existing");
  await promoteDue(deps, 10);
  await finish(idOf(first));
  const third = await add({});
  expect([third.kind, idOf(third) !== idOf(first)]).toEqual(["created", true]);
  await cancel(deps, "default", idOf(third));
  expect(await kindOf(add({}))).toBe("created");
  await countsAreTrue();
});

test("a key belongs to one queue and tenant; without a key, jobs of the same type and payload are the same", async () => {
  const mine = { key: undefined };
  expect(await kindOf(add({ unique: mine, payload: { a: 1, b: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, payload: { b: 2, a: 1 } }))).toBe("existing");
  expect(await kindOf(add({ unique: mine, payload: { a: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, type: "other", payload: { a: 1, b: 2 } }))).toBe("created");
  expect(await kindOf(add({ unique: mine, queue: "other", payload: { a: 1, b: 2 } }))).toBe("created");
  const acme = { ...submission({ unique: {}, payload: { a: 1, b: 2 } }), tenant: "acme" };
  expect((await enqueue(deps, [acme], options))[0]?.kind).toBe("created");
});

test("a window runs from the job's creation, whatever becomes of it", async () => {
  const unique = { key: "u", scope: "window", window_seconds: 60 } as const;
  const first = await add({ unique });
  await finish(idOf(first));
  expect(await add({ unique })).toMatchObject({ kind: "existing", job: { id: idOf(first), status: "succeeded" } });
  await deps.database.sql`UPDATE atlasqueue.jobs SET unique_until = now() - interval '1 ms'`;
  expect(await kindOf(add({ unique }))).toBe("created");
});

test("reject refuses, names the job, and burns no idempotency key", async () => {
  const first = await add({});
  const unique = { key: "u", on_conflict: "reject" } as const;
  expect(await add({ unique }, "mine")).toEqual({ kind: "conflict", job_id: idOf(first) });
  await finish(idOf(first));
  expect(await kindOf(add({ unique }, "mine"))).toBe("created");
});

test("the same idempotency key gets the same answer again, whatever happened to the unique key", async () => {
  const first = await add({});
  const second = await add({}, "returned");
  await add({ unique: replace, payload: { a: 1 } }, "replaced");
  await add({ unique: replace, payload: { a: 2 } });
  await finish(idOf(first));
  await add({});
  expect(await add({}, "returned")).toMatchObject({ kind: "replayed", job: { id: idOf(second) } });
  const again = await add({ unique: replace, payload: { a: 1 } }, "replaced");
  expect(again).toMatchObject({ kind: "replayed", job: { id: idOf(first) } });
  expect(await kindOf(add({ priority: 1 }, "returned"))).toBe("mismatch");
});

test("in your own code: a refusal is an error that names the job; in your transaction it stores nothing", async () => {
  const queue = createQueue({ databaseUrl: url() });
  onTestFinished(() => queue.close());
  const unique = { key: "q", on_conflict: "reject" } as const;
  const first = await queue.submit({ type: "a", unique });
  await expect(queue.submit({ type: "a", unique })).rejects.toThrow(UniqueConflictError);
  await expect(queue.submit({ type: "a", unique })).rejects.toMatchObject({ jobId: first.id });
  expect(await queue.submitMany([{ type: "a", unique: { key: "q" } }, { type: "b" }])).toMatchObject([
    { id: first.id, created: false },
    { created: true },
  ]);
  const { sql } = deps.database;
  const inside = await sql.begin(async (tx) => {
    const debounced = await queue.submitIn(tx, { type: "a", unique: replace, payload: { n: 1 }, delay_seconds: 9 });
    return [debounced, await queue.submitIn(tx, { type: "a", unique: replace, payload: { n: 2 } })] as const;
  });
  expect(inside).toMatchObject([{ created: true, status: "blocked" }, { created: true }]);
  await queue.announce(...inside);
  const [kept, ended] = [await read(inside[0].id), await read(inside[1].id)];
  expect(kept).toMatchObject({ status: "queued", payload: { n: 2 } });
  expect(ended).toMatchObject({ status: "cancelled", last_error: expect.stringContaining(inside[0].id) });
  await countsAreTrue();
  await expect(
    sql.begin(async (tx) => {
      await queue.submitIn(tx, { type: "a", unique: { key: "rolled back" } });
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect((await keys()).map(({ key }) => key as string)).toEqual(["key:q", "key:u"]);
});
