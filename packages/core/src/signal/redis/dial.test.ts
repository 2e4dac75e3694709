import { eventually, redisUrl } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { parseRedisUrl } from "./address.ts";
import { dial as dialAddress, dialAnew } from "./dial.ts";

function dial(url: string) {
  const to = parseRedisUrl(url);
  if (to.kind === "cluster") throw new Error("a cluster");
  const redis = dialAddress(to);
  onTestFinished(() => redis.disconnect());
  return redis;
}

test("a connection told to redial while it is being dialled still comes up", async () => {
  const redis = dial(redisUrl());
  dialAnew(redis);
  await eventually(() => expect(redis.status).toBe("ready"));
});

test("a subscriber whose connection ends as it becomes ready again is dialled once more, and nothing is left unhandled", async () => {
  const redis = dial(redisUrl());
  await eventually(() => expect(redis.status).toBe("ready"));
  await redis.subscribe("news");
  let ended = false;
  const ask = redis.info.bind(redis) as (done: (error: unknown, info: unknown) => void) => unknown;
  // What ioredis asks before it calls a connection ready.
  Object.assign(redis, {
    info: (done: (error: unknown, info: unknown) => void) =>
      ask((error, info) => {
        if (!ended) redis.stream.end();
        ended = true;
        done(error, info);
      }),
  });
  dialAnew(redis);
  await eventually(() => expect([ended, redis.stream.writable, redis.status]).toEqual([true, true, "ready"]));
});
