import { randomUUID } from "node:crypto";
import { recordEvents, redisUrl, submission, testDatabase, uniqueKeys, type TestDatabase } from "@atlasqueue/testing";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SubmitJobInput } from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import { redisSignal } from "../signal/redis/signal.ts";
import { SignalUnavailableError, type Signal } from "../signal/signal.ts";
import { submit } from "../submit/submit.ts";
import { enqueue } from "../submit/enqueue.ts";
import { rebuildDeadLetterList } from "../dead-letters/rebuild-list.ts";
import { resignalOrphans } from "./resignal.ts";

const main = { tenant: "default", queue: "default" };
const options = { idempotency_ttl_seconds: 60 };
let own: TestDatabase;
let deps: Deps & { signal: Signal };
let redis: Redis;
let keys: ReturnType<typeof uniqueKeys>;

beforeAll(async () => {
  own = await testDatabase();
  redis = new Redis(redisUrl());
});
afterAll(async () => {
  redis.disconnect();
  await own.drop();
});
beforeEach(async () => {
  await own.database.sql`TRUNCATE jobs`;
  await deps?.signal.close();
  keys = uniqueKeys();
  const signal = redisSignal({
    url: redisUrl(),
    keys: { jobs: keys.jobsKey, dead_letters: keys.dlqKey },
    timeout_ms: 5_000,
  });
  deps = { database: own.database, observe: recordEvents().observe, signal };
});
afterAll(() => deps.signal.close());

const ids = (outcomes: Awaited<ReturnType<typeof enqueue>>) => outcomes.map((one) => ("job" in one ? one.job.id : ""));
const requests = (count: number, request: Partial<SubmitJobInput> = {}) =>
  Array.from({ length: count }, () => submission(request));
const age = (seconds: number) =>
  own.database
    .sql`UPDATE jobs SET ready_at = ready_at - ${seconds} * interval '1 second', updated_at = updated_at - ${seconds} * interval '1 second'`;
const kill = async (count: number): Promise<string[]> => {
  const dead = Array.from({ length: count }, () => randomUUID());
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, dead_at, payload)
    SELECT id, 'noop', 'dead', now(), now(), now(), now(), '{}' FROM unnest(${`{${dead.join(",")}}`}::uuid[]) AS id`;
  return dead;
};
const listed = () => redis.lrange(keys.dlqKey, 0, -1);

test("submitted jobs are in the list, newest on the left", async () => {
  const [a, b] = ids(await submit(deps, requests(2), options));
  expect(await redis.lrange(keys.jobsKey, 0, -1)).toEqual([b, a]);
});

test("after Redis loses everything, every queued job is signalled again, oldest first", async () => {
  const created = ids(await submit(deps, requests(50), options));
  await redis.del(keys.jobsKey);
  await age(1);
  expect(await resignalOrphans(deps, main)).toBe(50);
  expect(await deps.signal.take([main], 100)).toEqual(created.toSorted());
});

test("what was found missing, and could not be signalled as Redis went away meanwhile, is not told as nothing missing", async () => {
  await submit(deps, requests(2), options);
  await redis.del(keys.jobsKey);
  await age(1);
  const pushFront = () => Promise.reject(new SignalUnavailableError("away"));
  await expect(resignalOrphans({ ...deps, signal: { ...deps.signal, pushFront } }, main)).rejects.toThrow("away");
  expect(await resignalOrphans(deps, main)).toBe(2);
});

test("a job whose signal was lost before the database's clock was set back is found", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(-3_600);
  expect(await resignalOrphans(deps, main)).toBe(1);
  expect(await deps.signal.take([main], 100)).toEqual([orphan]);
});

test("a job whose signal was lost is found while the list is busy, and comes next", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(10);
  const fresh = ids(await submit(deps, requests(3), options));
  expect(await resignalOrphans(deps, main)).toBe(1);
  expect(await resignalOrphans(deps, main)).toBe(0);
  expect(await deps.signal.take([main], 100)).toEqual([orphan, ...fresh.toSorted()]);
});

test("a prioritised job whose signal was lost is found while the list is busy", async () => {
  const [urgent] = ids(await enqueue(deps, requests(1, { priority: 5 }), options));
  const [late] = ids(await enqueue(deps, requests(1, { priority: -5 }), options));
  await age(10);
  const [fresh] = ids(await submit(deps, requests(1), options));
  await resignalOrphans(deps, main);
  await resignalOrphans(deps, main);
  expect(await deps.signal.take([main], 100)).toEqual([urgent, fresh, late]);
});

test("jobs that became ready before the reach of a look are left to one that reaches further", async () => {
  const [old, urgent] = ids(await enqueue(deps, [submission({}), submission({ priority: 5 })], options));
  await age(60);
  const [young] = ids(await enqueue(deps, requests(1), options));
  await age(5);
  expect(await resignalOrphans(deps, main, 30_000)).toBe(1);
  expect(await deps.signal.take([main], 100)).toEqual([young]);
  expect(await resignalOrphans(deps, main)).toBe(3);
  expect(await deps.signal.take([main], 100)).toEqual([urgent, old, young]);
});

test("a list full of junk loses no job", async () => {
  const [orphan] = ids(await enqueue(deps, requests(1), options));
  await age(10);
  await redis.lpush(keys.jobsKey, "junk", "wake", randomUUID());
  await resignalOrphans(deps, main);
  await deps.signal.take([main], 100);
  await resignalOrphans(deps, main);
  expect(await deps.signal.take([main], 100)).toEqual([orphan]);
});

test("jobs dropped by a full list come back in order, before newer ones", async () => {
  const small = redisSignal({
    url: redisUrl(),
    keys: { jobs: keys.jobsKey, dead_letters: keys.dlqKey },
    signals_max: 10,
    timeout_ms: 5_000,
  });
  try {
    const tight = { ...deps, signal: small };
    const first = ids(await submit(tight, requests(10), options));
    const dropped = ids(await submit(tight, requests(10), options));
    await age(5);
    expect(await small.take([main], 100)).toEqual(first);
    await own.database
      .sql`UPDATE jobs SET status = 'succeeded', ready_at = NULL WHERE id = ANY(${`{${first.join(",")}}`}::uuid[])`;
    const newer = ids(await submit(tight, requests(2), options));
    await age(5);
    await resignalOrphans(tight, main);
    expect(await small.take([main], 100)).toEqual([...dropped.toSorted(), ...newer.toSorted()]);
    expect((await small.look(main)).overflowed).toBe(false);
  } finally {
    await small.close();
  }
});

test("the list shows each dead job once, even those whose worker died before it could report them", async () => {
  const dead = await kill(3);
  await deps.signal.deadLetters.add(dead.slice(0, 1));
  await rebuildDeadLetterList(deps, 0);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test("the list is rebuilt after Redis loses it, however many died in the same instant", async () => {
  const dead = await kill(2_500);
  await rebuildDeadLetterList(deps, 0);
  await redis.del(keys.dlqKey, `${keys.dlqKey}:members`, `${keys.dlqKey}:cursor`);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test("what died long ago is in the list again, though Redis lost it while the list was being filled", async () => {
  const long_ago = await kill(3);
  await own.database.sql`UPDATE jobs SET dead_at = dead_at - interval '5 minutes'`;
  const { deadLetters } = deps.signal;
  for (const begun of [false, true]) {
    const dead = [...long_ago, ...(await kill(1))];
    if (begun) await rebuildDeadLetterList(deps, 0);
    dead.push(...(await kill(1)));
    const flush = () => redis.del(keys.dlqKey, `${keys.dlqKey}:members`, `${keys.dlqKey}:cursor`);
    /** Just before each change of the list in turn. */
    for (let at = 1, changes = 0; at === 1 || changes >= at; at += 1) {
      changes = 0;
      const flushedBefore = new Proxy(deadLetters, {
        get(real, name: keyof typeof deadLetters) {
          if (name === "look" || name === "page") return real[name];
          return async (...given: never[]) => {
            changes += 1;
            if (changes === at) await flush();
            return (real[name] as (...words: never[]) => unknown)(...given);
          };
        },
      });
      await rebuildDeadLetterList({ ...deps, signal: { ...deps.signal, deadLetters: flushedBefore } }, 0);
      await rebuildDeadLetterList(deps, 0);
      expect((await listed()).toSorted(), `flushed before change ${at}`).toEqual(dead.toSorted());
    }
    await flush();
    await own.database.sql`DELETE FROM jobs WHERE id <> ALL(${`{${long_ago.join(",")}}`}::uuid[])`;
  }
});

test("the list is rebuilt even when only part of it was deleted by hand", async () => {
  const dead = await kill(3);
  await rebuildDeadLetterList(deps, 0);
  await redis.del(keys.dlqKey);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test("the list is rebuilt when what says how far it is was overwritten", async () => {
  const dead = await kill(3);
  await rebuildDeadLetterList(deps, 0);
  await deps.signal.deadLetters.remove(dead.slice(0, 1));
  await redis.set(`${keys.dlqKey}:cursor`, "not what it was");
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test("what is no longer dead leaves the list", async () => {
  const dead = await kill(3);
  await rebuildDeadLetterList(deps, 0);
  await own.database
    .sql`UPDATE jobs SET status = 'queued', ready_at = now(), dead_at = NULL WHERE id = ${dead[1] ?? ""}`;
  await deps.signal.deadLetters.add(["junk"]);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual([dead[0], dead[2]].toSorted());
});

test("what is started anew while an empty list is being filled does not stay in it", async () => {
  const [id = ""] = await kill(1);
  const { deadLetters } = deps.signal;
  const carryOn: typeof deadLetters.carryOn = async (...stretch) => {
    await own.database.sql`UPDATE jobs SET status = 'queued', ready_at = now(), dead_at = NULL WHERE id = ${id}`;
    return deadLetters.carryOn(...stretch);
  };
  await rebuildDeadLetterList({ ...deps, signal: { ...deps.signal, deadLetters: { ...deadLetters, carryOn } } }, 0);
  expect(await listed()).toEqual([]);
});

test("the list is rebuilt to the end, however many died within a minute", async () => {
  await kill(21_500);
  expect(await rebuildDeadLetterList(deps, 0)).toEqual({ caught_up: false });
  expect(await rebuildDeadLetterList(deps, 1)).toEqual({ caught_up: true });
  expect(await redis.llen(keys.dlqKey)).toBe(21_500);
});

test("a queue's name can never be another queue's key", async () => {
  const odd = ["mail:priority", "priority", "overflow:queue:mail", "turn:sweep", "tenant:a:queue:b"];
  for (const queue of odd) await submit(deps, requests(1, { queue }), options);
  const [mail] = ids(await submit(deps, requests(1, { queue: "mail", priority: 5 }), options));
  expect(await deps.signal.take([{ tenant: "default", queue: "mail" }], 5)).toEqual([mail]);
  for (const queue of odd) expect(await deps.signal.take([{ tenant: "default", queue }], 5)).toHaveLength(1);
});

test("waiting prioritised jobs are not offered twice", async () => {
  await submit(deps, requests(5, { priority: 3 }), options);
  await submit(deps, requests(1), options);
  await age(10);
  const before = await redis.llen(keys.jobsKey);
  expect(await resignalOrphans(deps, main)).toBe(0);
  expect(await redis.llen(keys.jobsKey)).toBe(before);
});

test("what died after the database's clock was set back gets into the list, though the list has come further", async () => {
  const [before] = await kill(1);
  await own.database.sql`UPDATE jobs SET dead_at = dead_at + interval '1 hour'`;
  const ahead = new Date(Date.now() + 3_600_000);
  await deps.signal.deadLetters.carryOn([before ?? ""], undefined, `${ahead.toISOString()} ${before}`);
  // Its worker could not add it: Redis was away.
  const [after] = await kill(1);
  await own.database.sql`UPDATE jobs SET dead_at = dead_at - interval '10 minutes' WHERE id = ${after ?? ""}`;
  await rebuildDeadLetterList(deps, 0);
  expect((await listed()).toSorted()).toEqual([before, after].toSorted());
  // From here on it goes on from now, and does not start over each time.
  const [reached = ""] = (await deps.signal.deadLetters.look()).cursor?.split(" ") ?? [];
  expect(Date.parse(reached)).toBeLessThan(ahead.getTime() - 1_800_000);
});
