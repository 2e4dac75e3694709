import { randomUUID } from "node:crypto";
import { forFile, recordEvents, redisUrl, testDatabase } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newKeys, openSignal } from "../../test/working-signal.ts";
import type { Deps } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { rebuildDeadLetterList } from "./rebuild-list.ts";

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

const kill = async (count: number): Promise<string[]> => {
  const dead = Array.from({ length: count }, () => randomUUID());
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, dead_at, payload)
    SELECT id, 'noop', 'dead', now(), now(), now(), now(), '{}' FROM unnest(${`{${dead.join(",")}}`}::uuid[]) AS id`;
  return dead;
};
const listed = () => redis.lrange(keys.deadLetters, 0, -1);

test("the list shows each dead job once, even those whose worker died before it could report them", async () => {
  const dead = await kill(3);
  await deps.signal.deadLetters.add(dead.slice(0, 1));
  await rebuildDeadLetterList(deps, 0);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test.each<[string, number, (dead: string[]) => Promise<unknown>]>([
  [
    "Redis loses it, of jobs that died in the same instant",
    2_500,
    () => redis.del(keys.deadLetters, `${keys.deadLetters}:members`, `${keys.deadLetters}:cursor`),
  ],
  ["only part of it is deleted by hand", 3, () => redis.del(keys.deadLetters)],
  [
    "what says how far it is is overwritten",
    3,
    async (dead) => {
      await deps.signal.deadLetters.remove(dead.slice(0, 1));
      await redis.set(`${keys.deadLetters}:cursor`, "not what it was");
    },
  ],
])("the list is rebuilt after %s", async (_what, count, damage) => {
  const dead = await kill(count);
  await rebuildDeadLetterList(deps, 0);
  await damage(dead);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual(dead.toSorted());
});

test("what died long ago is in the list again, though Redis lost it while the list was being filled", async () => {
  const long_ago = await kill(3);
  await own.database.sql`UPDATE atlasqueue.jobs SET dead_at = dead_at - interval '5 minutes'`;
  const { deadLetters } = deps.signal;
  for (const begun of [false, true]) {
    const dead = [...long_ago, ...(await kill(1))];
    if (begun) await rebuildDeadLetterList(deps, 0);
    dead.push(...(await kill(1)));
    const flush = () => redis.del(keys.deadLetters, `${keys.deadLetters}:members`, `${keys.deadLetters}:cursor`);
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
    await own.database.sql`DELETE FROM atlasqueue.jobs WHERE id <> ALL(${`{${long_ago.join(",")}}`}::uuid[])`;
  }
});

test("what is no longer dead leaves the list", async () => {
  const dead = await kill(3);
  await rebuildDeadLetterList(deps, 0);
  await own.database
    .sql`UPDATE atlasqueue.jobs SET status = 'queued', ready_at = now(), dead_at = NULL WHERE id = ${dead[1] ?? ""}`;
  await deps.signal.deadLetters.add(["junk"]);
  await rebuildDeadLetterList(deps, 1);
  expect((await listed()).sort()).toEqual([dead[0], dead[2]].toSorted());
});

test("what is started anew while an empty list is being filled does not stay in it", async () => {
  const [id = ""] = await kill(1);
  const { deadLetters } = deps.signal;
  const carryOn: typeof deadLetters.carryOn = async (...stretch) => {
    await own.database
      .sql`UPDATE atlasqueue.jobs SET status = 'queued', ready_at = now(), dead_at = NULL WHERE id = ${id}`;
    return deadLetters.carryOn(...stretch);
  };
  await rebuildDeadLetterList({ ...deps, signal: { ...deps.signal, deadLetters: { ...deadLetters, carryOn } } }, 0);
  expect(await listed()).toEqual([]);
});

test("the list is rebuilt to the end, however many died within a minute", async () => {
  await kill(21_500);
  expect(await rebuildDeadLetterList(deps, 0)).toEqual({ caught_up: false });
  expect(await rebuildDeadLetterList(deps, 1)).toEqual({ caught_up: true });
  expect(await redis.llen(keys.deadLetters)).toBe(21_500);
});

test("what died after the database's clock was set back gets into the list, though the list has come further", async () => {
  const [before] = await kill(1);
  await own.database.sql`UPDATE atlasqueue.jobs SET dead_at = dead_at + interval '1 hour'`;
  const ahead = new Date(Date.now() + 3_600_000);
  await deps.signal.deadLetters.carryOn([before ?? ""], undefined, `${ahead.toISOString()} ${before}`);
  // Its worker could not add it: Redis was away.
  const [after] = await kill(1);
  await own.database
    .sql`UPDATE atlasqueue.jobs SET dead_at = dead_at - interval '10 minutes' WHERE id = ${after ?? ""}`;
  await rebuildDeadLetterList(deps, 0);
  expect((await listed()).toSorted()).toEqual([before, after].toSorted());
  // From here on it goes on from now, and does not start over each time.
  const [reached = ""] = (await deps.signal.deadLetters.look()).cursor?.split(" ") ?? [];
  expect(Date.parse(reached)).toBeLessThan(ahead.getTime() - 1_800_000);
});
