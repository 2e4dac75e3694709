import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Rig } from "../rig/rig.ts";
import type { Card } from "./card.ts";

const victims = () => ["redis"];

/** Sets something in Redis for a while. A Redis that went away meanwhile has forgotten it. */
async function forAWhile({ redis }: Rig, ms: number, act: (to: Redis) => unknown, undo: (to: Redis) => unknown) {
  await redis.asAdmin(async (to) => act(to));
  await delay(ms);
  await redis.asAdmin(async (to) => undo(to));
}

/** What happens to Redis. */
export const redisCards: readonly Card[] = [
  {
    name: "redis-killed",
    victims,
    sizes: [0, 5_000],
    takes_ms: (size) => size + 2_000,
    signal: "SIGKILL",
    async play({ redis }, { size }) {
      const server = redis.primary();
      await server.kill("SIGKILL");
      await delay(size);
      await server.restart();
    },
  },
  {
    name: "redis-frozen",
    victims,
    sizes: [1_000, 8_000],
    takes_ms: (size) => size,
    signal: "SIGSTOP",
    async play({ redis }, { size }) {
      const server = redis.primary();
      server.pause();
      try {
        await delay(size);
      } finally {
        server.resume();
      }
    },
  },
  {
    name: "redis-flushed",
    victims,
    sizes: [0],
    takes_ms: () => 1_000,
    play: (rig) => rig.redis.asAdmin(async (redis) => void (await redis.flushall())),
  },
  {
    name: "redis-wrong-type",
    victims,
    sizes: [4_000],
    takes_ms: (size) => size,
    async play(rig, { size }) {
      const keys = await rig.redis.asAdmin((redis) => redis.keys("atlasqueue:*"));
      const act = async (redis: Redis) => {
        for (const key of keys) await redis.set(key, "not what it was");
      };
      await forAWhile(rig, size, act, (redis) => keys.length > 0 && redis.del(...keys));
      return `${keys.length} keys`;
    },
  },
  {
    name: "redis-out-of-memory",
    victims,
    sizes: [5_000],
    takes_ms: (size) => size,
    play: (rig, { size }) =>
      forAWhile(
        rig,
        size,
        (redis) => redis.config("SET", "maxmemory", "100kb"),
        (redis) => redis.config("SET", "maxmemory", "0"),
      ),
  },
  {
    name: "redis-lagging-replica-promoted",
    victims,
    sizes: [3_000],
    takes_ms: (size) => size + 5_000,
    async play({ redis }, { size }) {
      redis.replication().delay(size);
      await delay(size);
      await redis.promote();
    },
  },
];
