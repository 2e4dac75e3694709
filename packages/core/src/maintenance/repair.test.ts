import { randomUUID } from "node:crypto";
import { forFile, recordEvents, redisUrl, submission, submit, testDatabase } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newKeys, openSignal } from "../../test/working-signal.ts";
import type { SubmitJobInput } from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import { SignalUnavailableError, type Signal } from "../signal/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { resignalOrphans } from "./resignal.ts";

const main = { tenant: "default", queue: "default" };
const options = { idempotency_ttl_seconds: 60 };
const own = forFile(testDatabase);
let deps: Deps & { signal: Signal };
let redis: Redis;
let keys: ReturnType<typeof newKeys>;

beforeAll(() => void (redis = new Redis(redisUrl())));
afterAll(() => void redis.disconnect());
beforeEach(async () => {
  await own.database.sql`TRUNCATE atlasqueue.jobs`;
  keys = newKeys();
  const signal = openSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
  deps = { database: own.database, observe: recordEvents().observe, signal };
});

const ids = (outcomes: Awaited<ReturnType<typeof enqueue>>) => outcomes.map((one) => ("job" in one ? one.job.id : ""));
const requests = (count: number, request: Partial<SubmitJobInput> = {}) =>
  Array.from({ length: count }, () => submission(request));
const age = (seconds: number) =>
  own.database
    .sql`UPDATE atlasqueue.jobs SET ready_at = ready_at - ${seconds} * interval '1 second', updated_at = updated_at - ${seconds} * interval '1 second'`;

test("submitted jobs are in the list, newest on the left", async () => {
  const [a, b] = ids(await submit(deps, requests(2), options));
  expect(await redis.lrange(keys.jobs, 0, -1)).toEqual([b, a]);
});

test("after Redis loses everything, every queued job is signalled again, oldest first", async () => {
  const created = ids(await submit(deps, requests(50), options));
  await redis.del(keys.jobs);
  await age(1);
  expect(await resignalOrphans(deps, main)).toBe(50);
  expect((await deps.signal.take([main], 100)).ids).toEqual(created.toSorted());
});

test("what was found missing, and could not be signalled as Redis went away meanwhile, is not told as nothing missing", async () => {
  await submit(deps, requests(2), options);
  await redis.del(keys.jobs);
  await age(1);
  const pushFront = () => Promise.reject(new SignalUnavailableError("away"));
  await expect(resignalOrphans({ ...deps, signal: { ...deps.signal, pushFront } }, main)).rejects.toThrow("away");
  expect(await resignalOrphans(deps, main)).toBe(2);
});

test("a job whose signal was lost before the database's clock was set back is found", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(-3_600);
  expect(await resignalOrphans(deps, main)).toBe(1);
  expect((await deps.signal.take([main], 100)).ids).toEqual([orphan]);
});

test("a job whose signal was lost is found while the list is busy, and comes next", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(10);
  const fresh = ids(await submit(deps, requests(3), options));
  expect(await resignalOrphans(deps, main)).toBe(1);
  expect(await resignalOrphans(deps, main)).toBe(0);
  expect((await deps.signal.take([main], 100)).ids).toEqual([orphan, ...fresh.toSorted()]);
});

test("a prioritised job whose signal was lost is found while the list is busy", async () => {
  const [urgent] = ids(await enqueue(deps, requests(1, { priority: 5 }), options));
  const [late] = ids(await enqueue(deps, requests(1, { priority: -5 }), options));
  await age(10);
  const [fresh] = ids(await submit(deps, requests(1), options));
  await resignalOrphans(deps, main);
  await resignalOrphans(deps, main);
  expect((await deps.signal.take([main], 100)).ids).toEqual([urgent, fresh, late]);
});

test("a list full of junk loses no job", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(10);
  await redis.lpush(keys.jobs, "junk", "wake", randomUUID());
  await resignalOrphans(deps, main);
  await deps.signal.take([main], 100);
  await resignalOrphans(deps, main);
  expect((await deps.signal.take([main], 100)).ids).toEqual([orphan]);
});

test("jobs dropped by a full list come back in order, before newer ones", async () => {
  const small = openSignal({ url: redisUrl(), keys, signalsMax: 10, timeoutMs: 5_000 });
  const tight = { ...deps, signal: small };
  const first = ids(await submit(tight, requests(10), options));
  const dropped = ids(await submit(tight, requests(10), options));
  await age(5);
  expect((await small.take([main], 100)).ids).toEqual(first);
  await own.database
    .sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL WHERE id = ANY(${`{${first.join(",")}}`}::uuid[])`;
  const newer = ids(await submit(tight, requests(2), options));
  await age(5);
  await resignalOrphans(tight, main);
  expect((await small.take([main], 100)).ids).toEqual([...dropped.toSorted(), ...newer.toSorted()]);
  expect((await small.look(main)).overflowed).toBe(false);
});

test("a queue's name can never be another queue's key", async () => {
  const odd = ["mail:priority", "priority", "overflow:queue:mail", "turn:sweep", "tenant:a:queue:b"];
  for (const queue of odd) await submit(deps, requests(1, { queue }), options);
  const [mail] = ids(await submit(deps, requests(1, { queue: "mail", priority: 5 }), options));
  expect((await deps.signal.take([{ tenant: "default", queue: "mail" }], 5)).ids).toEqual([mail]);
  for (const queue of odd) expect((await deps.signal.take([{ tenant: "default", queue }], 5)).ids).toHaveLength(1);
});

test("waiting prioritised jobs are not offered twice", async () => {
  await submit(deps, requests(5, { priority: 3 }), options);
  await submit(deps, requests(1), options);
  await age(10);
  const before = await redis.llen(keys.jobs);
  expect(await resignalOrphans(deps, main)).toBe(0);
  expect(await redis.llen(keys.jobs)).toBe(before);
});
